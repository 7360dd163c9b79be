package statement

import (
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"

	"golang.org/x/mod/sumdb/tlog"
)

// TestStatement checks a statement with contracts that end in each way: kept, broken with a
// penalty, and still open. Hosts are paid twice. One note must not reach a terminal, one
// follows an order, and one is about a command that could not be started. Some money comes
// from another user's contract.
func TestStatement(t *testing.T) {
	t.Parallel()
	entry := func(time float64, kind bank.Kind, contract int64, note string, moves ...bank.Move) bank.Entry {
		return bank.Entry{Time: time, Kind: kind, Contract: contract, Note: []byte(note), Moves: moves}
	}
	move := func(from, to string, micros int64) bank.Move {
		return bank.Move{From: from, To: to, Amount: bank.Micros(micros)}
	}
	behind := string(ownerstest.Market(bank.Settle, "3/settle", 3).Note) // as in a ledger with owners
	entries := []bank.Entry{
		entry(0, bank.Issue, bank.NoContract, "", move("mint", "user:1", 100e6), move("mint", "user:2", 50e6), move("mint", "provider", 9e6)),
		entry(1, bank.Admit, 3, `{"decision":"accept","price":0.5}`, move("user:1", "escrow:3", 10e6)),
		entry(2, bank.Admit, 4, "\x1b[2J", move("user:1", "escrow:4", 20e6)),
		entry(2, bank.Reject, 5, `{"decision":"reject"}`),
		entry(3, bank.Settle, 3, behind+`{"state":"violated","work":7}`, move("escrow:3", "host:a", 1e6), move("escrow:3", "host:b", 2e6), move("escrow:3", "host:a", 3e6), move("escrow:3", "user:1", 4e6)),
		entry(3, bank.Penalty, 3, "", move("provider", "user:1", 5e5)),
		entry(4, bank.Admit, 6, "", move("user:2", "escrow:6", 5e6)),
		entry(5, bank.Settle, 6, "", move("escrow:6", "user:1", 5e6)),
		entry(6, bank.Admit, 7, "", move("user:1", "escrow:7", 3e6)),
		entry(7, bank.Settle, 7, `{"state":"violated","work":7,"work_done":0,"fault":"command"}`, move("escrow:7", "user:1", 3e6)),
	}
	state := func(since int64) *Statement {
		l := bank.New(nil)
		s, err := Of("user:1", since, func(yield func(*bank.Entry, tlog.Hash) bool) {
			for _, e := range entries {
				if err := l.Book(&e); err != nil {
					t.Fatal(err)
				}
				if !yield(&e, tlog.Hash{}) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := l.Lookup("user:1")
		if held, _ := l.Escrow(4); s.Closing != l.Balance(a) || s.Held != held {
			t.Errorf("closes with %v and %v in escrow, the ledger with %v and %v", s.Closing, s.Held, l.Balance(a), held)
		}
		return s
	}
	want := `Statement of user:1
Amounts are in dollars; times are in seconds since the origin of the run.

opening balance 0.000000
0.000 s issue from mint 100.000000
5.000 s settle of contract 6 from escrow:6 5.000000

contract 3: violated
1.000 s budget set aside -10.000000
decision accept, price 0.5 $/s
of which charged by host:a 4.000000
of which charged by host:b 2.000000
3.000 s refund 4.000000
state violated, work 7 CPU s
penalty that you received 0.500000

contract 4: open
2.000 s budget set aside -20.000000
"\u001b[2J"

contract 7: violated
6.000 s budget set aside -3.000000
7.000 s refund 3.000000
state violated, work 7 CPU s, work done 0 CPU s, fault command

closing balance 79.500000
in escrow besides 20.000000
`
	got := ""
	for line := range strings.Lines(state(0).text()) {
		got += strings.Join(strings.Fields(line), " ") + "\n"
	}
	if got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	s := state(5) // the contract is settled, but its penalty is not paid yet
	if s.Opening != bank.Micros(74e6) || len(s.Contracts) != 2 || s.Contracts[0].Contract != 4 || len(s.Others) != 2 || s.Others[0].Kind != bank.Penalty {
		t.Errorf("since entry 5: opens with %v, %d contracts, %+v", s.Opening, len(s.Contracts), s.Others)
	}
}
