package owners_test

import (
	"bytes"
	crypto "crypto/rand"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/order"
	"bourse/bank/owners"
	. "bourse/bank/owners/ownerstest"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/mod/sumdb/tlog"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// history contains the entries of the attacked ledger after its first ones. Contract 0 of
// market:lab is open, and contract 1 was settled. user:3 has a different key than its name
// implies, user:4 has no key, and user:5 has the operator's key. The operator has a key that
// recovery set, and user:10 is invited.
func history() []bank.Entry {
	return append(Begin(),
		Transfer("t0", "user:0", "user:1", 100),
		Admit("a0", "user:0", Contract(0), 1000, 900),
		Admit("a1", "user:1", Contract(1), 1000, 1000),
		Market(bank.Settle, "s1", Contract(1), Move(bank.EscrowName(Contract(1)), "host:0", 600), Move(bank.EscrowName(Contract(1)), "user:1", 400)),
		Transfer("fund", "user:1", "market:lab", 500),
		Market(bank.Penalty, "p1", Contract(1), Move("market:lab", "user:1", 50)),
		Transfer("t3", "user:2", "user:3", 100),
		Says("user:3", "rotate", "rot", "user:3", "key", Public("new:3")),
		Transfer("t4", "user:2", "user:4", 100),
		Says("operator", "revoke", "rev", "operator", "of", "user:4"),
		Transfer("t5", "user:2", "user:5", 100),
		Says("operator", "recover", "rec", "operator", "of", "user:5", "key", Public("new:5")),
		Says("recovery", "recover", "rec", "recovery", "of", "operator", "key", Public("operator2")),
		Says("operator2", "right", "r4", "operator", "of", "user:6", "right", "mint", "cap", "0.000100", "period", "1000", "with", "user:7"),
		Says("operator2", "right", "r5", "operator", "of", "user:7", "right", "read"),
		enrol("market:b"), enrol("market:c"),
		Says("operator2", "right", "r6", "operator", "of", "market:c", "right", "settle", "number", "5"),
		Says("operator2", "revoke", "v6", "operator", "of", "market:c", "right", "settle"),
		Says("operator2", "right", "r8", "operator", "of", "user:8", "right", "mint", "cap", "5.000000", "period", "1000", "with", "user:9"),
		Says("user:9", "rotate", "rot9", "user:9", "key", Public("user:8")),
		Says("operator2", "right", "r7", "operator", "of", "host:9", "right", "payee", "market", "lab"),
		Says("operator2", "revoke", "v7", "operator", "of", "host:9", "right", "payee", "market", "lab"),
		Says("operator2", "invite", "i10", "operator", "of", "user:10", "key", Public("invitation")),
		Entry(bank.Issue, Note([]string{"user:6", "user:7"}, "mint", "m6", "user:6", "to", "user:6", "amount", "0.000060"), bank.NoContract, Move("mint", "user:6", 60)),
		Says("operator2", "right", "r9", "operator", "of", "user:2", "right", "mint", "cap", "0.001000", "period", "1000", "window", "sliding"),
		Entry(bank.Issue, Note([]string{"user:2"}, "mint", "m2", "user:2", "to", "user:2", "amount", "0.000500"), bank.NoContract, Move("mint", "user:2", 500)),
		Transfer("film", "user:1", "project:film", 2000),
		Says("operator2", "right", "r10", "operator", "of", "project:film", "right", "spend", "for", "user:0", "most", "0.000500"),
		AdmitFor("f0", "user:0", "film", Contract(10), 400, 400),
		Says("operator2", "right", "r11", "operator", "of", "project:film", "right", "spend", "for", "user:0", "most", "0.001000"),
		AdmitFor("f1", "user:0", "film", Contract(11), 300, 200),
		Market(bank.Settle, "sf", Contract(10), Move(bank.EscrowName(Contract(10)), "host:0", 100), Move(bank.EscrowName(Contract(10)), "project:film", 300)),
		Says("operator2", "right", "r12", "operator", "of", "project:film", "right", "spend", "for", "user:1", "most", "1.000000"),
		Says("operator2", "revoke", "v12", "operator", "of", "project:film", "right", "spend", "for", "user:1"),
		Says("operator2", "right", "r13", "operator", "of", "project:film", "right", "spend", "for", "user:6", "most", "0.001000", "refunds", "credited"),
		Says("operator2", "right", "r14", "operator", "of", "project:film", "right", "spend", "for", "user:7", "most", "0.000500", "refunds", "credited"),
		AdmitFor("g0", "user:6", "film", Contract(12), 900, 900),
		AdmitFor("g1", "user:7", "film", Contract(13), 100, 100),
		AdmitFor("g2", "user:7", "film", Contract(14), 50, 50),
		Market(bank.Settle, "sg", Contract(12), Move(bank.EscrowName(Contract(12)), "host:0", 100), Move(bank.EscrowName(Contract(12)), "project:film", 800)),
		AdmitFor("g3", "user:6", "film", Contract(15), 500, 500),
		Says("operator2", "revoke", "v14", "operator", "of", "project:film", "right", "spend", "for", "user:7"),
		Says("operator2", "right", "r15", "operator", "of", "project:film", "right", "spend", "for", "user:7", "most", "0.000100", "refunds", "credited"),
		AdmitFor("g4", "user:7", "film", Contract(16), 40, 40),
		Market(bank.Settle, "sh", Contract(13), Move(bank.EscrowName(Contract(13)), "project:film", 100)), // under a right that was revoked
	)
}

// enrol is like Enrol, but uses the operator's latest key.
func enrol(account string) bank.Entry {
	return Says("operator2", "enrol", "enrol-"+account, "operator", "of", account, "key", Public(account))
}

// with returns an entry with a change applied.
func with(e bank.Entry, change func(e *bank.Entry)) bank.Entry {
	e.Moves = slices.Clone(e.Moves)
	change(&e)
	return e
}

// other returns a transfer whose order text is changed before it is signed.
func other(old, new string) bank.Entry {
	o, err := order.Open(Transfer("x", "user:0", "user:1", 5).Note)
	if err != nil {
		panic(err)
	}
	text := strings.Replace(o.String(), old, new, 1)
	note, err := order.Sign([]byte(text), Private("user:0"))
	if err != nil {
		panic(err)
	}
	return Entry(bank.Transfer, note, bank.NoContract, Move("user:0", "user:1", 5))
}

// An attack is an entry that must not be booked. It contains the expected error of the door,
// and the expected finding of an audit if the entry was booked without the door's checks.
type attack struct {
	what         string
	e            bank.Entry
	door, audits string
}

func attacks() []attack {
	mint := func(signers []string, id string, micros int64) bank.Entry {
		return Entry(bank.Issue, Note(signers, "mint", id, signers[0], "to", "user:0", "amount", bank.Micros(micros).String()), bank.NoContract, Move("mint", "user:0", micros))
	}
	settle := func(contract int64, moves ...bank.Move) bank.Entry {
		return Market(bank.Settle, "x", contract, moves...)
	}
	escrow := bank.EscrowName(Contract(0))
	signed := func(signers []string, to string, micros int64) []byte {
		return Note(signers, "transfer", "x", "user:0", "to", to, "amount", bank.Micros(micros).String())
	}
	x := Transfer("x", "user:0", "user:1", 5)
	open := bank.Entry{Kind: bank.Transfer, Contract: bank.NoContract, ID: "x", Moves: x.Moves, Time: 10}
	return []attack{
		{"an unsigned transfer", open, "found no signature", "an entry without a signed order"},
		{"an unsigned transfer without id", with(open, func(e *bank.Entry) { e.ID = "" }), "found no signature", "an entry without a signed order"},
		{"an unsigned issue", bank.Entry{Kind: bank.Issue, Contract: bank.NoContract, Moves: []bank.Move{Move("mint", "user:0", 5)}, Time: 10}, "found no signature", "an entry without a signed order"},
		{"another's signature", Entry(bank.Transfer, signed([]string{"user:1"}, "user:1", 5), bank.NoContract, x.Moves...), "not signed by the key of user:0", "the key of user:0 did not sign"},
		{"a signature by a key of before", Transfer("x", "user:3", "user:1", 5), "not signed by the key of user:3", "signed by a key of user:3 that entry 27 revoked"},
		{"a signature by a revoked key", Transfer("x", "user:4", "user:1", 5), "user:4 has no key", "signed by a key of user:4 that entry 29 revoked"},
		{"a signature by a recovered key", Transfer("x", "user:5", "user:1", 5), "not signed by the key of user:5", "signed by a key of user:5 that entry 31 revoked"},
		{"one who has no key", Transfer("x", "host:0", "user:1", 5), "host:0 has no key", "the key of host:0 did not sign"},
		{"one signature too many", Entry(bank.Transfer, signed([]string{"user:0", "user:1"}, "user:1", 5), bank.NoContract, x.Moves...), "found 2 signatures, want 1", "2 signatures"},
		{"more than the order's amount", with(x, func(e *bank.Entry) { e.Moves[0].Amount = bank.Micros(6) }), "want the order's", "want the order's"},
		{"less than the order's amount", with(x, func(e *bank.Entry) { e.Moves[0].Amount = bank.Micros(4) }), "want the order's", "want the order's"},
		{"another payee", with(x, func(e *bank.Entry) { e.Moves[0].To = "user:2" }), "want the order's", "want the order's"},
		{"another payer", with(x, func(e *bank.Entry) { e.Moves[0].From = "user:2" }), "want the order's", "want the order's"},
		{"a second move", with(x, func(e *bank.Entry) { e.Moves = append(e.Moves, Move("user:2", "user:1", 5)) }), "found 2 moves, want one", "want the order's"},
		{"another id", with(x, func(e *bank.Entry) { e.ID = "user:0/y" }), `found request "user:0/y" on order "user:0/x"`, `request "user:0/y"`},
		{"an order of another ledger", other("5f7c", "5f7d"), "found an order for ledger 5f7d", "an order for ledger 5f7d"},
		{"an order that expired", other("expires 2000-01-01T02:46:40Z", "expires 2000-01-01T00:00:05Z"), "", ""},
		{"an order long expired", with(other("expires 2000-01-01T02:46:40Z", "expires 2000-01-01T00:00:05Z"), func(e *bank.Entry) { e.Time = 306 }), "expired at 2000-01-01T00:00:05Z", "an order that expired at 2000-01-01T00:00:05Z"},
		{"a line that nobody signed", with(x, func(e *bank.Entry) { e.Note = append(slices.Clone(e.Note), "note rent\n"...) }), "found unsigned text", "after the signatures"},
		{"a refusal by another than the ledger", with(x, func(e *bank.Entry) { e.Kind, e.Moves = bank.Refuse, nil }), "which only the ledger may write", ""},
		{"a refusal of what a market decides", with(Admit("x", "user:0", Contract(2), 100, 100), func(e *bank.Entry) { e.Kind, e.Contract, e.Moves = bank.Refuse, bank.NoContract, nil }), "found a refuse on an order of kind order", "a refusal of an order of kind order"},
		{"a refusal of an order that another signed", bank.Entry{Kind: bank.Refuse, Contract: bank.NoContract, ID: x.ID, Note: signed([]string{"user:1"}, "user:1", 5), Time: 10}, "not signed by the key of user:0", "the key of user:0 did not sign"},
		{"an order used twice", with(Transfer("t0", "user:0", "user:1", 100), func(e *bank.Entry) { e.Time = 11 }), "again", "order user:0/t0, which entry 20 already used"},
		{"an order used for another entry", with(Transfer("t0", "user:0", "user:1", 100), func(e *bank.Entry) { e.Moves[0].Amount = bank.Micros(99) }), "id was used for another request", "order user:0/t0, which entry 20 already used"},
		{"a transfer on an order to mint", with(mint([]string{"bursar"}, "x", 5), func(e *bank.Entry) { e.Kind, e.Moves = bank.Transfer, x.Moves }), "found a transfer on an order of kind mint", "an order of kind mint"},
		{"a record on an order to transfer", bank.Entry{Kind: bank.Owner, Contract: bank.NoContract, ID: x.ID, Note: x.Note, Time: 10}, "found a owner on an order of kind transfer", "transfer of  by user:0"},

		{"a mint over its cap", mint([]string{"bursar"}, "x", 998e6), "found a mint of 998.000000 by bursar, want at most 997.000000", "a mint of 998.000000 by bursar on top of 3.000000"},
		{"a mint without the right", mint([]string{"user:0"}, "x", 5), "user:0 has no right to mint", "a mint by user:0"},
		{"a mint that one of two signed", mint([]string{"user:6"}, "x", 5), "not also signed by the key of user:7", "the key of user:7 did not sign"},
		{"a mint that another signed, too", mint([]string{"user:6", "user:8"}, "x", 5), "not also signed by the key of user:7", "the key of user:7 did not sign"},
		{"a mint over the rest of its cap", mint([]string{"user:6", "user:7"}, "x", 41), "want at most 0.000040", "on top of 0.000060"},
		{"a mint that one of two with one key signed", mint([]string{"user:8", "user:0"}, "x", 5), "not also signed by the key of user:9", "one key of user:8 and user:9"},
		{"a mint over its cap in another period", with(mint([]string{"user:2"}, "x", 501), func(e *bank.Entry) { e.Time = 1005 }), "want at most 0.000500, the rest of 0.001000 in any 1000 s", "on top of 0.000500"},
		{"a mint to another", with(mint([]string{"bursar"}, "x", 5), func(e *bank.Entry) { e.Moves[0].To = "user:1" }), "want the order's", "want the order's"},
		{"a mint of more", with(mint([]string{"bursar"}, "x", 5), func(e *bank.Entry) { e.Moves[0].Amount = bank.Micros(6) }), "want the order's", "want the order's"},

		{"an admission over its budget", Admit("x", "user:0", Contract(2), 100, 101), "at most the budget", "at most 0.000100 of user:0"},
		{"an admission at another's cost", with(Admit("x", "user:0", Contract(2), 100, 100), func(e *bank.Entry) { e.Moves[0].From = "user:1" }), "an admission with other payers, want only user:0", `of "user:1" held in escrow`},
		{"an admission under another market's number", Admit("x", "user:0", 7, 100, 100), "found contract 7, want one of market:lab", "contract 7 under market:lab"},
		{"an admission by the next market's number", Admit("x", "user:0", 4<<32, 100, 100), "want one of market:lab", "under market:lab"},
		{"an admission by a market without right", Entry(bank.Admit, Note([]string{"user:0"}, "order", "x", "user:0", "market", "other", "budget", "1.000000"), Contract(2), Move("user:0", bank.EscrowName(Contract(2)), 5)), "market:other has no right to settle", "market:other without the right to settle"},
		{"a rejection under another market's number", with(Admit("x", "user:0", 7, 100, 100), func(e *bank.Entry) { e.Kind, e.Moves = bank.Reject, nil }), "found contract 7", "contract 7 under market:lab"},

		{"a project's budget without the right", AdmitFor("x", "user:2", "film", Contract(2), 100, 100), "user:2 has no right to spend from project:film", "of project:film held for user:2"},
		{"a project's budget by a right that was revoked", AdmitFor("x", "user:1", "film", Contract(2), 100, 100), "user:1 has no right to spend from project:film", "of project:film held for user:1"},
		{"a project's budget over the limit", AdmitFor("x", "user:0", "film", Contract(2), 500, 401), "want at most 0.000400, the rest of 0.001000", "0.000401 of project:film held for user:0"},
		{"a project's budget over the limit and what returned", AdmitFor("x", "user:6", "film", Contract(2), 500, 401), "want at most 0.000400, the rest of 0.001000", "0.000401 of project:film held for user:6"},
		{"a project's budget over a limit given again", AdmitFor("x", "user:7", "film", Contract(2), 61, 61), "want at most 0.000060, the rest of 0.000100", "0.000061 of project:film held for user:7"},
		{"another project's budget", AdmitFor("x", "user:0", "other", Contract(2), 100, 100), "no right to spend from project:other", "of project:other held for user:0"},
		{"a project's budget over the order's", AdmitFor("x", "user:0", "film", Contract(2), 100, 101), "at most the budget", "at most 0.000100 of project:film"},
		{"a project's budget paid by its user", with(AdmitFor("x", "user:0", "film", Contract(2), 100, 100), func(e *bank.Entry) { e.Moves[0].From = "user:0" }), "want only project:film", `of "user:0" held in escrow`},
		{"a user's budget paid by a project", with(Admit("x", "user:0", Contract(2), 100, 100), func(e *bank.Entry) { e.Moves[0].From = "project:film" }), "want only user:0", `of "project:film" held in escrow`},
		{"a budget of a project's contract", Adjust("x", "user:0", Contract(11), 200), `found a budget of "project:film", want one of user:0`, "of project:film, want"},
		{"a right to spend for one without a key", Says("operator2", "right", "x", "operator", "of", "project:film", "right", "spend", "for", "user:12", "most", "1.000000"), "user:12 cannot spend from project:film", "a right to spend from project:film for user:12"},
		{"a right to spend by who is not the operator", Says("user:0", "right", "x", "user:0", "of", "project:film", "right", "spend", "for", "user:0", "most", "1.000000"), "by user:0, want it by operator", "right of project:film by user:0"},

		{"a budget other than the order's", Adjust("x", "user:0", Contract(0), 800, Move(escrow, "user:0", 101)), "found a budget of 0.000799, want the order's, 0.000800", "a budget of 0.000799"},
		{"an old budget that moves money", Adjust("x", "user:0", Contract(0), 900, Move("user:0", escrow, 1)), "found a budget of 0.000901", "a budget of 0.000901"},
		{"a budget of another's contract", Adjust("x", "user:1", Contract(0), 800, Move(escrow, "user:0", 100)), `found a budget of "user:0", want one of user:1`, "of user:0, want"},
		{"a budget back to another", Adjust("x", "user:0", Contract(0), 800, Move(escrow, "user:1", 100)), "not well formed", "between the escrow and its owner"},
		{"a budget of another contract than the order's", with(Adjust("x", "user:0", Contract(1), 800, Move(escrow, "user:0", 100)), func(e *bank.Entry) { e.Contract = Contract(0) }), "found contract", "as the order says"},
		{"a budget of a settled contract", Adjust("x", "user:1", Contract(1), 800), "want one of user:1", "which has no escrow"},
		{"a budget under another market's number", Adjust("x", "user:0", 7, 800), "found contract 7", "contract 7 under market:lab"},
		{"a budget on an order to admit", with(Admit("x", "user:0", Contract(0), 800, 100), func(e *bank.Entry) { e.Kind, e.Moves = bank.Adjust, []bank.Move{Move(escrow, "user:0", 100)} }), "found a adjust on an order of kind order", "an order of kind order"},

		{"a settlement to one who is no payee", settle(Contract(0), Move(escrow, "user:9", 900)), "found a payment to user:9", `a payment to "user:9"`},
		{"a settlement to one who is a payee no more", settle(Contract(0), Move(escrow, "host:9", 900)), "found a payment to host:9", `a payment to "host:9"`},
		{"a settlement by a market that may not any more", Entry(bank.Settle, Note([]string{"market:c"}, "settle", "x", "market:c", "contract", fmt.Sprint(5<<32), "moves", order.Digest([]bank.Move{Move("escrow:21474836480", "user:0", 5)})), 5<<32, Move("escrow:21474836480", "user:0", 5)), "market:c has no right to settle", "market:c without the right to settle"},
		{"a settlement of another market's contract", settle(7, Move("escrow:7", "host:0", 5)), "found contract 7", "contract 7 under market:lab"},
		{"a settlement with other moves", with(settle(Contract(0), Move(escrow, "host:0", 400), Move(escrow, "user:0", 500)), func(e *bank.Entry) { e.Moves = []bank.Move{Move(escrow, "host:0", 900)} }), "different moves, want the order's", "as the order says"},
		{"a penalty for another contract than the order's", with(Market(bank.Penalty, "x", Contract(1), Move("market:lab", "user:1", 5)), func(e *bank.Entry) { e.Contract = Contract(0) }), "a different contract or different moves", "as the order says"},
		{"a settlement outside its escrow", settle(Contract(0), Move(escrow, "host:0", 900), Move("user:1", "host:0", 5)), "entry is not well formed", "a settlement that moves"},
		{"a settlement of more than its escrow", settle(Contract(0), Move(escrow, "host:0", 901)), "entry is not well formed", "no overdraft"},
		{"a settlement by who is no market", Entry(bank.Settle, Note([]string{"user:0"}, "settle", "x", "user:0", "contract", fmt.Sprint(Contract(0)), "moves", order.Digest([]bank.Move{Move(escrow, "user:0", 900)})), Contract(0), Move(escrow, "user:0", 900)), "user:0 has no right to settle", "user:0 without the right to settle"},
		{"a penalty out of a user's account", Market(bank.Penalty, "x", Contract(1), Move("user:0", "user:1", 5)), "found a penalty out of user:0", `a penalty out of "user:0"`},
		{"a penalty with other moves", with(Market(bank.Penalty, "x", Contract(1), Move("market:lab", "user:1", 5)), func(e *bank.Entry) { e.Moves[0].Amount = bank.Micros(6) }), "different moves, want the order's", "as the order says"},
		{"a penalty for another market's contract", Market(bank.Penalty, "x", 7, Move("market:lab", "user:1", 5)), "found contract 7", "contract 7 under market:lab"},

		{"a record by who is not the operator", Says("user:0", "enrol", "x", "user:0", "of", "user:11", "key", Public("user:11")), "enrol of user:11 by user:0, want it by operator", "enrol of user:11 by user:0"},
		{"a right by who is not the operator", Says("user:0", "right", "x", "user:0", "of", "user:0", "right", "mint", "cap", "5.000000", "period", "5"), "right of user:0 by user:0, want it by operator", "right of user:0 by user:0"},
		{"a record by the operator's key of before", Says("operator", "enrol", "x", "operator", "of", "user:11", "key", Public("user:11")), "not signed by the key of operator", "signed by a key of operator that entry 32 revoked"},
		{"an enrolment without invitation", Says("user:11", "enrol", "x", "user:11", "of", "user:11", "key", Public("user:11")), "user:11 has no valid invitation", "an enrolment of user:11 without a valid invitation"},
		{"an enrolment by an invitation of another", Says("invitation", "enrol", "x", "user:11", "of", "user:11", "key", Public("user:11")), "user:11 has no valid invitation", "an enrolment of user:11 without a valid invitation"},
		{"an enrolment by an invitation too late", with(Says("invitation", "enrol", "x", "user:10", "of", "user:10", "key", Public("user:10")), func(e *bank.Entry) { e.Time = 3611 }), "has no valid invitation", "without a valid invitation"},
		{"an enrolment again", Says("operator2", "enrol", "x", "operator", "of", "user:0", "key", Public("x")), "user:0 is already enrolled", "one enrolment per account"},
		{"an enrolment of one revoked", Says("operator2", "enrol", "x", "operator", "of", "user:4", "key", Public("x")), "user:4 is already enrolled", "one enrolment per account"},
		{"an invitation of one enrolled", Says("operator2", "invite", "x", "operator", "of", "user:0", "key", Public("x")), "user:0 is already enrolled", "one enrolment per account"},
		{"a recovery by a user", Says("user:0", "recover", "x", "user:0", "of", "user:4", "key", Public("x")), "by user:0, want it by operator", "recover of user:4 by user:0"},
		{"a recovery of the operator by himself", Says("operator2", "recover", "x", "operator", "of", "operator", "key", Public("x")), "want it by recovery", "recover of operator by operator"},
		{"a recovery of recovery", Says("operator2", "recover", "x", "operator", "of", "recovery", "key", Public("x")), "recovery cannot be recovered", "recover of recovery by operator"},
		{"a recovery of a user by recovery", Says("recovery", "recover", "x", "recovery", "of", "user:4", "key", Public("x")), "want it by operator", "recover of user:4 by recovery"},
		{"a recovery of nobody", Says("operator2", "recover", "x", "operator", "of", "user:12", "key", Public("x")), "user:12 cannot be recovered", "recover of user:12 by operator"},
		{"a revocation of recovery", Says("operator2", "revoke", "x", "operator", "of", "recovery"), "want it by recovery", "revoke of recovery by operator"},
		{"a revocation by another", Says("user:0", "revoke", "x", "user:0", "of", "user:1"), "want it by operator", "revoke of user:1 by user:0"},
		{"a revocation of nothing", Says("operator2", "revoke", "x", "operator", "of", "user:4"), "user:4 has no key, right or invitation to revoke", "revoke of user:4 by operator"},
		{"a right of nobody revoked", Says("operator2", "revoke", "x", "operator", "of", "user:12", "right", "read"), "user:12 has no key, right or invitation to revoke", "revoke of user:12 by operator"},
		{"one key for two", Says("recovery", "rotate", "x", "recovery", "key", Public("operator2")), "the same key for operator and recovery", "the same key for operator and recovery"},
		{"a right for one without a key", Says("operator2", "right", "x", "operator", "of", "user:12", "right", "read"), "user:12 has no key", "user:12, which has no key"},
		{"a right to settle for a user", Says("operator2", "right", "x", "operator", "of", "user:0", "right", "settle", "number", "4"), "want it for a market", "a right to settle for user:0"},
		{"a market's number twice", Says("operator2", "right", "x", "operator", "of", "market:b", "right", "settle", "number", "3"), "found number 3 of market:lab", "number 3 for market:b"},
		{"a mint with oneself", Says("operator2", "right", "x", "operator", "of", "user:0", "right", "mint", "cap", "5.000000", "period", "5", "with", "user:0"), "cannot sign with", "to mint for user:0 with user:0"},
		{"a mint with nobody", Says("operator2", "right", "x", "operator", "of", "user:0", "right", "mint", "cap", "5.000000", "period", "5", "with", "user:12"), "cannot sign with", "with user:12"},
		{"owned again", with(Own(), func(e *bank.Entry) { e.ID, e.Time = "own2", 10 }), "found no signature", "an entry without a signed order"},
	}
}

// ledger creates the attacked ledger, and then books further entries, if any, without the
// door's checks.
func ledger(t testing.TB, after ...bank.Entry) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewCrashableMem()
	j, err := store.Create("ledger", store.Options{FS: fs})
	check(t, err)
	for i, e := range append(history(), after...) {
		e.Seq = int64(i + 1)
		check(t, j.Append(&e))
		if i%7 == 0 { // book in groups, whose orders are read ahead
			check(t, j.Flush())
		}
	}
	check(t, j.Close())
	return fs
}

// readAhead is the number of orders that all audits together have read ahead.
var readAhead atomic.Int64

// audited audits a ledger both with and without reading orders ahead. The results must be
// equal.
func audited(t testing.TB, fs vfs.FS, opts audit.Options) *audit.Report {
	t.Helper()
	opts.FS = fs
	r, err := audit.Audit("ledger", opts)
	check(t, err)
	ahead := 0
	opts.Chance = crypto.Reader
	opts.Spread = func(n int, do func(int)) {
		for i := range n {
			do(n - 1 - i)
		}
		ahead += n
	}
	again, err := audit.Audit("ledger", opts)
	check(t, err)
	for _, r := range []*audit.Report{r, again} { // the order of file names may differ
		slices.SortStableFunc(r.Findings, func(a, b audit.Finding) int { return strings.Compare(a.File, b.File) })
	}
	readAhead.Add(int64(ahead))
	if !reflect.DeepEqual(again, r) {
		t.Errorf("with %d orders read ahead: %+v, want %+v", ahead, again, r)
	}
	return r
}

// TestAttacks checks that the door rejects entries that owners did not request, with the right
// reason, and books nothing. If such an entry bypasses the door, an audit of only the ledger
// finds and names it.
func TestAttacks(t *testing.T) {
	t.Parallel()
	fs := ledger(t)
	if r := audited(t, fs, audit.Options{}); !r.Clean() || r.Mode != "owned" || r.Ledger != Ledger || r.Operator != Public("operator2") || r.Orders != r.Entries-1 {
		t.Fatalf("%+v", r)
	}
	if readAhead.Load() == 0 {
		t.Error("no order was read ahead")
	}
	open := func() (*store.Sequencer, *bank.Ledger) {
		j, l, err := store.Open("ledger", store.Options{FS: fs.CrashClone(vfs.CrashCloneCfg{})})
		check(t, err)
		return store.NewSequencer(j, l), l
	}
	last := int64(len(history()))
	final := 0
	for _, a := range attacks() {
		if a.door == "" { // an order may be booked until five minutes after its expiry
			continue
		}
		s, l := open()
		before := maps.Collect(l.Balances())
		_, err := s.Do(t.Context(), a.e)
		if a.door == "again" { // The repeated request gets the first answer.
			if err != nil {
				t.Errorf("%s: %v", a.what, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), a.door) {
			t.Errorf("%s at the door: %v, want %q", a.what, err, a.door)
		}
		if l.Entries() > last { // the order was the account's own: its id is used up
			final++
			e, ok, wrong := s.Answer(t.Context(), a.e.ID)
			if _, again := s.Do(t.Context(), a.e); wrong != nil || !ok || e.Kind != bank.Refuse || l.Entries() != last+1 || again == nil || again.Error() != err.Error() {
				t.Errorf("%s is booked as %v %v; again %v, want %v", a.what, e, wrong, again, err)
			}
		}
		if after := maps.Collect(l.Balances()); !maps.Equal(after, before) {
			t.Errorf("%s: balances %v, want %v", a.what, after, before)
		}
		check(t, s.Close())
		if a.audits == "" { // the ledger's operator may refuse a signed order
			continue
		}
		f := audited(t, ledger(t, a.e), audit.Options{}).Findings
		if len(f) == 0 || f[0].Seq != last+1 || !strings.Contains(f[0].String(), a.audits) {
			t.Errorf("%s in the ledger: %v, want entry %d and %q", a.what, f, last+1, a.audits)
		}
	}
	if final < 10 {
		t.Errorf("%d refusals are final", final)
	}
	s, _ := open()
	defer s.Close()
	for _, e := range []bank.Entry{attacks()[16].e, Says("invitation", "enrol", "x", "user:10", "of", "user:10", "key", Public("user:10")), Admit("y", "user:0", Contract(2), 100, 99), AdmitFor("yf", "user:0", "film", Contract(20), 400, 400), AdmitFor("yg", "user:6", "film", Contract(21), 400, 400),
		Adjust("w", "user:0", Contract(0), 800, Move(bank.EscrowName(Contract(0)), "user:0", 100)), with(Adjust("v", "user:0", Contract(0)&(1<<32-1), 950, Move("user:0", bank.EscrowName(Contract(0)), 150)), func(e *bank.Entry) { e.Contract = Contract(0) }),
		with(Admit("z", "user:0", Contract(3), 100, 99), func(e *bank.Entry) { e.Kind, e.Moves = bank.Reject, nil })} {
		if _, err := s.Do(t.Context(), e); err != nil {
			t.Errorf("%s: %v", e.ID, err)
		}
	}
}

// TestSpendTogether checks that admissions at the same time, from the same right, do not exceed
// its limit, and that the remaining limit is the same after a kill.
func TestSpendTogether(t *testing.T) {
	t.Parallel()
	fs := ledger(t).CrashClone(vfs.CrashCloneCfg{})
	for round := range 2 {
		j, l, err := store.Open("ledger", store.Options{FS: fs})
		check(t, err)
		s := store.NewSequencer(j, l)
		var booked atomic.Int64
		var all sync.WaitGroup
		for i := range 30 {
			all.Go(func() {
				n := int64(100*(round+1) + i)
				if _, err := s.Do(t.Context(), AdmitFor(fmt.Sprint("t", n), "user:0", "film", Contract(n), 70, 70)); err == nil {
					booked.Add(1)
				}
			})
		}
		all.Wait()
		if n, want := booked.Load(), int64(5*(1-round)); n != want { // 400 micro-dollars are left
			t.Errorf("round %d: %d booked, want %d", round, n, want)
		}
		fs = fs.CrashClone(vfs.CrashCloneCfg{})
		check(t, s.Close())
	}
}

// TestRefundsCredited checks the limits of rights to spend in random histories of admissions,
// settlements, revocations and rights that are given again, with and without refunds, against a
// simple model. The ledger is killed between operations and must then have the same limits. The
// audit of only the entries, which also compares the stored rows, must agree.
func TestRefundsCredited(t *testing.T) {
	t.Parallel()
	type right struct {
		most, spent int64
		credited    bool
	}
	type open struct {
		by       *right // nil if refunds do not count
		held     int64
		contract int64
	}
	credits, refused := 0, 0
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 7))
		now := 10.0
		a := newLedgerAt(t, &now, append(Begin(), Transfer("film", "user:1", "project:film", 900_000))...)
		rights := map[string]*right{}
		var contracts []open
		for n := range 200 {
			user := fmt.Sprint("user:", r.IntN(3))
			id := fmt.Sprint("i", n)
			switch has := rights[user]; r.IntN(8) {
			case 0:
				next := &right{most: int64(1 + r.IntN(2000)), credited: r.IntN(3) > 0}
				fields := []string{"of", "project:film", "right", "spend", "for", user, "most", bank.Micros(next.most).String()}
				if next.credited {
					fields = append(fields, "refunds", "credited")
				}
				if has != nil { // the same right again, for which the contracts still count
					*has = right{next.most, has.spent, next.credited}
				} else {
					rights[user] = next
				}
				if _, err := a.Do(t.Context(), Says("operator", "right", id, "operator", fields...)); err != nil {
					t.Fatal(err)
				}
			case 1:
				if has == nil || r.IntN(3) > 0 {
					continue
				}
				if _, err := a.Do(t.Context(), Says("operator", "revoke", id, "operator", "of", "project:film", "right", "spend", "for", user)); err != nil {
					t.Fatal(err)
				}
				delete(rights, user)
			case 2, 3, 4:
				amount := int64(1 + r.IntN(600))
				if has != nil && r.IntN(2) == 0 { // budgets at the limit or above it
					amount = max(1, has.most-has.spent+int64(r.IntN(2)))
				}
				_, err := a.Do(t.Context(), AdmitFor(id, user, "film", Contract(int64(n)), amount, amount))
				if want := has != nil && has.spent+amount <= has.most; (err == nil) != want {
					t.Fatalf("seed %d, step %d: %d of %+v: %v", seed, n, amount, has, err)
				}
				if err != nil {
					refused++
					continue
				}
				k := open{contract: Contract(int64(n)), held: amount}
				if has.spent += amount; has.credited {
					k.by = has
				}
				contracts = append(contracts, k)
			default:
				if len(contracts) == 0 {
					continue
				}
				i := r.IntN(len(contracts))
				k := contracts[i]
				contracts = slices.Delete(contracts, i, i+1)
				escrow, paid := bank.EscrowName(k.contract), r.Int64N(k.held+1)
				var moves []bank.Move
				if paid > 0 {
					moves = append(moves, Move(escrow, "host:0", paid))
				}
				if paid < k.held {
					moves = append(moves, Move(escrow, "project:film", k.held-paid))
				}
				if _, err := a.Do(t.Context(), Market(bank.Settle, id, k.contract, moves...)); err != nil {
					t.Fatal(err)
				}
				if k.by != nil { // a revoked right is no longer in the table
					k.by.spent -= k.held - paid
					credits++
				}
			}
			switch r.IntN(20) {
			case 0:
				a.crash(t)
			case 1: // the rows are stored and restored
				check(t, a.Close())
				a.open(t)
			}
		}
		check(t, a.Close())
		if rep := audited(t, a.fs, audit.Options{}); !rep.Clean() {
			t.Errorf("seed %d: %v", seed, rep.Findings)
		}
	}
	if credits < 50 || refused < 50 {
		t.Errorf("%d credits, %d refusals: too few to tell", credits, refused)
	}
}

// TestUnsignedAnywhere checks that an audit finds an unsigned transfer at any position in a
// leaf of the ledger.
func TestUnsignedAnywhere(t *testing.T) {
	t.Parallel()
	var before []bank.Entry
	for k := range 33 {
		unsigned := bank.Entry{Kind: bank.Transfer, Contract: bank.NoContract, Moves: []bank.Move{Move("user:0", "user:1", 5)}, Time: 100}
		r := audited(t, ledger(t, append(before[:k:k], unsigned)...), audit.Options{})
		if len(r.Findings) == 0 || !strings.Contains(r.Findings[0].String(), "without a signed order") {
			t.Errorf("behind %d transfers: %v", k, r.Findings)
		}
		before = append(before, Transfer(fmt.Sprint("pad-", k), "user:0", "user:1", 1))
	}
}

// TestKept checks that owners are the same after reopening, and that an audit finds any change
// of their stored state.
func TestKept(t *testing.T) {
	t.Parallel()
	all := history()
	var whole owners.Owners
	for i := range all {
		whole.Book(&all[i])
	}
	var again owners.Owners
	rows := make(map[string]string)
	for name, row := range whole.Rows() {
		if row == "" { // an account without key and rights is not stored
			continue
		}
		rows[name] = row
		check(t, again.Restore(name, row))
	}
	if got, want := fmt.Sprint(again.Accounts(50)), fmt.Sprint(whole.Accounts(50)); got != want || again.Ledger() != Ledger {
		t.Errorf("restored as %s, want %s", got, want)
	}
	for range again.Rows() {
		t.Error("what was restored has changed")
	}
	for name, row := range rows {
		if err := new(owners.Owners).Restore(name, row+"other\n"); err == nil && name != "/ledger" {
			t.Errorf("%s: %q is restored", name, row+"other")
		}
	}
	kept := map[string]string{"Iuser:0/t0": ""} // The snapshot keeps a request and the rows.
	for name := range rows {
		kept["S"+name] = ""
	}
	kept["Suser:8"], kept["Suser:99"] = "key "+Public("thief")+"\n", "read\n"
	for key, value := range kept {
		fs := ledger(t)
		db, err := pebble.Open("ledger", &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
		check(t, err)
		if key[0] == 'I' { // as if the request were repeated
			b, closer, err := db.Get([]byte(key))
			check(t, err)
			value = "\x63" + string(b[1:])
			check(t, closer.Close())
		}
		if value == "" {
			check(t, db.Delete([]byte(key), pebble.Sync))
		} else {
			check(t, db.Set([]byte(key), []byte(value), pebble.Sync))
		}
		check(t, db.Close())
		r := audited(t, fs, audit.Options{})
		if !slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return strings.Contains(f.Found, key[1:]) }) {
			t.Errorf("%s kept as %q: %v", key, value, r.Findings)
		}
	}
}

// quiet is a logger that discards Pebble's messages.
type quiet struct{ pebble.Logger }

func (quiet) Infof(string, ...any) {}

// TestPinned checks that an audit finds that a ledger, owned or not, does not have the given
// keys.
func TestPinned(t *testing.T) {
	t.Parallel()
	fs := ledger(t)
	for keys, clean := range map[[2]string]bool{
		{Public("operator"), ""}:                  true,
		{Public("operator"), Public("recovery")}:  true,
		{Public("operator2"), Public("recovery")}: false, // The operator got this key later.
		{Public("operator"), Public("operator")}:  false,
	} {
		pinned := keys[:1]
		if keys[1] != "" {
			pinned = keys[:]
		}
		if r := audited(t, fs, audit.Options{Keys: pinned}); r.Clean() != clean || !clean && r.Findings[0].Seq != 1 {
			t.Errorf("%v: %v, want clean %v", keys, r.Findings, clean)
		}
	}
	j, err := store.Create("open", store.Options{FS: fs})
	check(t, err)
	check(t, j.Close())
	r, err := audit.Audit("open", audit.Options{FS: fs, Keys: []string{Public("operator")}})
	if err != nil || r.Clean() || r.Mode != "open" {
		t.Errorf("an open ledger: %+v, %v", r, err)
	}
}

// TestReadings checks that door and audit agree on arbitrary entries: everything that the door
// accepts passes an audit, and everything that it refuses fails.
func TestReadings(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	l := bank.New(nil)
	var o owners.Owners
	booked := Begin()
	for i := range booked {
		check(t, o.Check(&booked[i], nil, l))
		check(t, l.Book(&booked[i]))
		o.Book(&booked[i])
	}
	refused, taken := 0, 0
	for n := range 150 {
		e := anything(src, n)
		e.Time = max(e.Time, l.Now())
		door := o.Check(&e, nil, l)
		if door == nil && l.Book(&e) != nil {
			continue // an account has too little money
		}
		e.Seq = int64(len(booked) + 1)
		r, err := audit.Log(bytes.NewReader(log(t, append(booked[:len(booked):len(booked)], e))), audit.Options{})
		check(t, err)
		if r.Clean() != (door == nil) {
			t.Fatalf("seed %d: entry %d: %s\nthe door says %v, the audit %v", seed, e.Seq, e.Note, door, r.Findings)
		}
		if refused++; door == nil {
			refused--
			taken++
			o.Book(&e)
			booked = append(booked, e)
		}
	}
	if refused < 20 || taken < 5 {
		t.Errorf("seed %d: %d refused, %d taken", seed, refused, taken)
	}
}

// log returns entries in the format of 'bank log'.
func log(t testing.TB, entries []bank.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	check(t, export.Write(&b, "json", func(yield func(*bank.Entry, tlog.Hash) bool) {
		leaf := store.NewLeaf(store.Genesis())
		for i := range entries {
			if i > 0 && i%store.LeafSize == 0 {
				leaf = store.NewLeaf(leaf.Hash())
			}
			leaf.Add(&entries[i])
			if !yield(&entries[i], leaf.Hash()) {
				return
			}
		}
	}, export.Options{}))
	return b.Bytes()
}

// anything returns an arbitrary entry, which may or may not be permitted.
func anything(src *rand.Rand, n int) bank.Entry {
	id := fmt.Sprintf("n%d", n)
	one := func(names ...string) string { return names[src.IntN(len(names))] }
	user := func() string { return fmt.Sprintf("user:%d", src.IntN(4)) }
	who := one("operator", "operator", "operator", "operator", "recovery", user())
	signer := who
	if src.IntN(6) == 0 {
		signer = one("operator", "recovery", "new", user())
	}
	of := one("operator", "recovery", "market:lab", "market:b", "user:20", "user:21", "host:1", "bursar", user(), user(), who)
	contract := one("3", "3", "3", "4")
	number := map[string]int64{"3": 3, "4": 4}[contract]<<32 + src.Int64N(6)
	switch src.IntN(16) {
	case 0, 1:
		return Transfer(id, user(), "user:9", 1+src.Int64N(1000))
	case 2:
		return Mint(id, "user:0", 1+src.Int64N(400e6))
	case 3, 4:
		e := Admit(id, user(), number, 1000, 1+src.Int64N(1100))
		if src.IntN(3) == 0 {
			e.Kind, e.Moves = bank.Reject, nil
		}
		return e
	case 5:
		escrow := bank.EscrowName(number)
		return Market(bank.Settle, id, number, Move(escrow, one("host:0", "host:1", user()), 1+src.Int64N(1000)))
	case 6:
		return Market(bank.Penalty, id, number, Move(one("market:lab", user()), user(), 1+src.Int64N(1000)))
	case 7, 8:
		return Says(signer, "enrol", id, who, "of", of, "key", Public(one(of, "new")))
	case 9:
		return Says(signer, "invite", id, who, "of", of, "key", Public("new"))
	case 10:
		return Says(signer, "rotate", id, who, "key", Public(one("new", who, who, "recovery")))
	case 11:
		return Says(signer, "recover", id, who, "of", of, "key", Public(one("new", of)))
	case 12:
		if src.IntN(2) == 0 {
			return Says(signer, "revoke", id, who, "of", of, "right", one("mint", "settle", "read", "audit"))
		}
		return Says(signer, "revoke", id, who, "of", of)
	case 13:
		return Says(signer, "right", id, who, "of", of, "right", "settle", "number", contract)
	case 14:
		return Says(signer, "right", id, who, "of", of, "right", "payee", "market", one("lab", "b"))
	}
	fields := []string{"of", of, "right", "mint", "cap", "500.000000", "period", one("5", "1000")}
	if src.IntN(2) == 0 {
		fields = append(fields, "window", "sliding")
	}
	if src.IntN(2) == 0 {
		fields = append(fields, "with", one(user(), of))
	}
	return Says(signer, "right", id, who, fields...)
}

// BenchmarkCheck reports the time of the door's check of a signed transfer, and the time of
// only parsing the order and checking its signature.
func BenchmarkCheck(b *testing.B) {
	l := bank.New(nil)
	var o owners.Owners
	for _, e := range Begin() {
		o.Book(&e)
	}
	e := Transfer("x", "user:0", "user:1", 5)
	public := Public("user:0")
	b.Run("door", func(b *testing.B) {
		for b.Loop() {
			check(b, o.Check(&e, nil, l))
		}
	})
	b.Run("signature", func(b *testing.B) {
		for b.Loop() {
			if s, err := order.Open(e.Note); err != nil || !s.By(public) {
				b.Fatal("not signed")
			}
		}
	})
}
