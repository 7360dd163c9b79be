# Admit every request that can be placed, as an example of a policy that is a program.
use strict; use warnings; use JSON::PP; $| = 1;
my $json = JSON::PP->new->canonical;
<STDIN>; # the hello of bourse
print $json->encode({hello => "bourse policy", version => 1, name => "policy.pl"}), "\n";
while (my $line = <STDIN>) {
    my $question = decode_json($line);
    my $place = $question->{place};
    print $json->encode({ask => $question->{ask}, ref $place ? (accept => $place) : (reject => $place)}), "\n";
}
