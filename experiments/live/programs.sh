#!/bin/sh
# Sells this machine to two users, each of whom compresses a file with xz and compiles
# sources with gcc, and prints what was promised, what was delivered, and what the ledger
# says of it. It needs root, for control groups, and bourse, xz and gcc; it takes a minute,
# and leaves nothing. Told a number of tenths it does that part of the work, with more time.
set -eu
tenths=${1:-10}
dir=$(mktemp -d /tmp/bourse-programs.XXXXXX)
chmod 711 "$dir"
cd "$dir"
BOURSE_HOME=$dir/home
export BOURSE_HOME
market= agent=
end() {
  for part in $agent $market; do
    kill -INT "$part" 2>/dev/null || true
    wait "$part" 2>/dev/null || true
  done
  agent= market=
}
trap 'end; rm -rf "$dir"' EXIT
until_is() { # PATTERN COMMAND...
  pattern=$1
  shift
  until "$@" 2>/dev/null | grep -q "$pattern"; do
    kill -0 $market
    sleep 0.2
  done
}

# 20 MB of text, and 60 sources of 40 functions each.
seq $((tenths * 300000)) >numbers
i=0
while [ $i -lt $((tenths * 6)) ]; do
  i=$((i + 1))
  j=0
  while [ $j -lt 40 ]; do
    j=$((j + 1))
    echo "int f_${i}_$j(int *a, int n) { int s = $j; for (int k = 0; k < n; k++) s = s * $i + a[k] % (k + $j); return s; }"
  done >"part$i.c"
done
tar cf sources.tar part*.c

bourse live serve lab --listen 127.0.0.1:0 >said &
market=$!
until_is host bourse live host list --dir lab
bourse live host invite box --dir lab >token
bourse live agent host --join @token 2>agent-said &
agent=$!
until_is ' here ' bourse live host list --dir lab
sed -n '1s/.*: \(.* processors\)/\1/p' agent-said
for user in ann bob; do
  bourse live user join "$(bourse live user invite user:$user --money 20 --dir lab)" --home $user >/dev/null
done

ask() { # HOME CLASS BUDGET FILE COMMAND
  bourse job submit --home "$1" --class "$2" --work $((tenths * 3 / 2)) --deadline $((tenths < 10 ? 600 : 120)) --budget "$3" --file "$4" -- sh -c "$5" | sed 's/  receipt.*//'
}
xz='xz -6 -T1 -k numbers && xz -t numbers.xz && echo compressed'
gcc='tar xf sources.tar && for f in part*.c; do gcc -O2 -c $f; done && ls *.o | wc -l'
ask ann cac 4 numbers "$xz"
ask bob cac 4 sources.tar "$gcc"
ask ann be 1 sources.tar "$gcc"
ask bob be 1 numbers "$xz"
sleep $((tenths / 2))
bourse live host list --dir lab
echo
for user in ann bob; do
  bourse job status --home $user --all --wait >/dev/null 2>&1 || true
  bourse job status --home $user --all --json
done | awk -F '[":, ]+' '
  BEGIN { print "contract  user      class  promised     by  delivered  after  paid      back      state" }
  $2 == "contract" { id = $3 }
  $2 == "submitted" { asked = $3 }
  $2 == "ended" { ended = $3 }
  /^      "/ { f[$2] = $2 == "account" ? $3 ":" $4 : $3 }
  /^    }/ {
    printf "%8d  %-8s  %-5s  %6.1f s  %3d s   %6.1f s  %3.0f s  $%s  $%s  %s\n", id, f["account"], f["class"],
      f["work"], f["deadline"], f["done"], ended - asked, f["paid"], f["back"], f["state"]
  }' | sort -n
for contract in "ann 1" "bob 2" "ann 3" "bob 4"; do
  bourse job logs --home $contract
done
end
echo
for user in ann bob; do
  bourse ledger statement lab/books --user user:$user | grep -E '^(Statement|contract)|issue|charged|refund|closing' | sed 's/.* s  //; s/  \+/  /'
done
echo
bourse ledger audit lab/books | grep -Ev 'owned|not to be found'
bourse live check lab
