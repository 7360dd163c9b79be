package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bourse/bank/whole"
	"bourse/experiments/live"
	"bourse/hosts/link"
)

// network creates a network namespace like 'ip netns add' until the end of the test and returns
// its name. It requires root.
func network(t *testing.T) string {
	t.Helper()
	if os.Getenv("BOURSE_CI") == "" || os.Getuid() != 0 {
		t.Skip("only root makes network namespaces, in the nightly part machines: BOURSE_CI=1 runs it")
	}
	in := exec.Command("sleep", "600")
	in.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if err := in.Start(); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("bourse-%d", in.Process.Pid)
	file := filepath.Join("/run/netns", name)
	if err := os.MkdirAll("/run/netns", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := whole.Write(file, nil); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(fmt.Sprintf("/proc/%d/ns/net", in.Process.Pid), file, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	in.Process.Kill()
	in.Wait()
	t.Cleanup(func() {
		unix.Unmount(file, 0)
		os.Remove(file)
	})
	return name
}

// TestNetns checks that an agent runs in the requested namespace, from which it cannot
// reach anything outside.
func TestNetns(t *testing.T) {
	t.Parallel()
	name := network(t)
	dir := t.TempDir()
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	token := link.NewToken("127.0.0.1:1", strings.Repeat("A", 43))
	a := exec.Command("bourse", "agent", filepath.Join(dir, "host"), "--netns", name, "--kind", "signals", "--trust", "user:ann", "--join", token.String())
	a.Stderr = said
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		a.Process.Kill()
		a.Wait()
	}()
	var want, got unix.Stat_t
	if err := unix.Stat(filepath.Join("/run/netns", name), &want); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for range 100 {
		if err := unix.Stat(fmt.Sprintf("/proc/%d/ns/net", a.Process.Pid), &got); err != nil {
			t.Fatal(err)
		}
		text, _ = os.ReadFile(said.Name())
		if got.Ino == want.Ino && strings.Contains(string(text), "network is unreachable") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("it runs in %d, want %d, and says %q", got.Ino, want.Ino, text)
}

// sumOfRanks is a program whose nodes send their numbers to node 0. Node 0 sends the sum back
// to them.
const sumOfRanks = `use IO::Socket::INET;
my ($n, $me) = @ENV{qw(BOURSE_NODES BOURSE_NODE)};
open H, "<", $ENV{BOURSE_HOSTS} or die "hosts: $!";
my @hosts = <H>;
@hosts == $n && $hosts[0] eq "$ENV{MASTER_ADDR}\n" && $ENV{BOURSE_PORT} == $ENV{MASTER_PORT} or die "hosts: @hosts";
if ($me == 0) {
  my $l = IO::Socket::INET->new(LocalPort => $ENV{BOURSE_PORT}, Listen => 9) or die "port $ENV{BOURSE_PORT}: $!";
  my ($sum, @others) = (1);
  for (2 .. $n) { my $c = $l->accept; $sum += <$c>; push @others, $c }
  print $_ "$sum\n" for @others;
  print "sum $sum\n";
  sleep 2;
} else {
  my $c;
  for (1 .. 300) { $c = IO::Socket::INET->new("$ENV{MASTER_ADDR}:$ENV{MASTER_PORT}") and last; select undef, undef, undef, 0.1 }
  $c or die "no answer of $ENV{MASTER_ADDR}:$ENV{MASTER_PORT}";
  print $c $me + 1, "\n";
  print "sum ", scalar <$c>;
}
`

// TestNetnsRanks runs sumOfRanks in 20 contracts of two nodes, some of them at the same time.
// Each host is in its own network namespace.
func TestNetnsRanks(t *testing.T) {
	t.Parallel()
	if os.Getenv("BOURSE_CI") == "" || os.Getuid() != 0 {
		t.Skip("only root makes network namespaces, in the nightly part machines: BOURSE_CI=1 runs it")
	}
	ip := func(format string, args ...any) {
		t.Helper()
		line := fmt.Sprintf(format, args...)
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	id := os.Getpid()
	bridge, net := fmt.Sprintf("bourse%x", id), fmt.Sprintf("10.%d.%d.", 100+id>>8&63, id&255)
	t.Cleanup(func() { exec.Command("ip", "link", "del", bridge).Run() })
	ip("link add %s type bridge", bridge)
	ip("addr add %s1/24 dev %s", net, bridge)
	ip("link set %s up", bridge)
	dir, err := os.MkdirTemp("", "bourse-ranks")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	w := &town{T: t, dir: dir, answered: make(map[int]live.Answer)}
	w.market = w.part("market", "live", "serve", "lab", "--listen", net+"1:24421", "--home", "ann")
	w.until(30*time.Second, "the market answers", func() bool { return w.can("live", "host", "list", "--dir", "lab", "--home", "ann") })
	for i := range 2 {
		name := hostName(i)
		space := fmt.Sprintf("%s-%d", bridge, i)
		t.Cleanup(func() { exec.Command("ip", "netns", "del", space).Run() })
		ip("netns add %s", space)
		ip("link add v%x-%d type veth peer name eth0 netns %s", id, i, space)
		ip("link set v%x-%d master %s up", id, i, bridge)
		ip("-n %s addr add %s%d/24 dev eth0", space, net, 2+i)
		ip("-n %s link set eth0 up", space)
		w.write(name+".token", w.bourse("live", "host", "invite", name, "--dir", "lab", "--home", "ann"))
		args := []string{"live", "agent", name, "--join", "@" + name + ".token", "--kind", "signals", "--trust", "user:me", "--netns", space}
		if i == 1 {
			args = append(args, "--address", net+"3", "--ports", "24010-24200")
		}
		w.hosts = append(w.hosts, w.part(name, args...))
	}
	w.until(30*time.Second, "all hosts are there", func() bool {
		out, _ := w.run("live", "host", "list", "--dir", "lab", "--home", "ann")
		return strings.Count(out, " here ") == 2
	})
	w.write("sum.pl", sumOfRanks)
	good := 0
	for range 5 {
		for range 4 {
			w.bourse("job", "submit", "--home", "ann", "--nodes", "2", "--work", "3", "--deadline", "60", "--budget", "0.10", "--cpus", "0.4", "--file", "sum.pl", "--", "perl", "sum.pl")
		}
		w.run("job", "status", "--wait", "--home", "ann")
	}
	for n := 1; n <= 20; n++ {
		sums := ""
		for node := range 2 {
			out, err := w.run("job", "logs", "--home", "ann", "--node", fmt.Sprint(node), fmt.Sprint(n))
			if sums += out; err != nil {
				sums += err.Error()
			}
			if out != "sum 3\n" {
				more, _ := w.run("job", "logs", "--home", "ann", "--errors", "--node", fmt.Sprint(node), fmt.Sprint(n))
				sums += more
			}
		}
		if sums == "sum 3\nsum 3\n" {
			good++
		} else {
			t.Errorf("contract %d: %q, want the sum of both nodes", n, sums)
		}
	}
	t.Logf("%d of 20 contracts: every node has the sum", good)
}
