// Package ownerstest creates the entries of an owned ledger for tests: keys by account, and
// orders signed with them.
package ownerstest

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"

	"bourse/bank"
	"bourse/bank/keys"
	"bourse/bank/order"
)

// Ledger is the id of the ledger.
const Ledger = "5f7c3e9a0b1d2c4e6f8091a2b3c4d5e6"

// Number is the number of market:lab. The number of its first contract is Contract(0).
const Number = 3

// Contract returns the number of the n-th contract of market:lab.
func Contract(n int64) int64 { return Number<<32 + n }

// Private returns the private key with the given name. It is deterministic.
func Private(name string) string {
	private, _, err := keys.New(rand.NewChaCha8(sha256.Sum256([]byte(name))), "k-"+name)
	if err != nil {
		panic(err)
	}
	return private
}

// Public returns the public key with the given name.
func Public(name string) string {
	public, err := keys.Of(Private(name))
	if err != nil {
		panic(err)
	}
	return public
}

// Note returns an order for the ledger that expires at time 10,000, signed with the keys of
// the given names. The arguments fields are pairs of names and values.
func Note(signers []string, kind, id, account string, fields ...string) []byte {
	all := []order.Field{{Name: "ledger", Value: Ledger}, {Name: "id", Value: id}, {Name: "account", Value: account}}
	if kind == "order" || kind == "bid" {
		all = append(all[:1:1], append([]order.Field{{Name: fields[0], Value: fields[1]}}, all[1:]...)...)
		fields = fields[2:]
	}
	for i := 0; i < len(fields); i += 2 {
		all = append(all, order.Field{Name: fields[i], Value: fields[i+1]})
	}
	o, err := order.New(kind, append(all, order.Field{Name: "expires", Value: "2000-01-01T02:46:40Z"})...)
	if err != nil {
		panic(err)
	}
	note := []byte(o.String())
	for _, name := range signers {
		if note, err = order.Sign(note, Private(name)); err != nil {
			panic(err)
		}
	}
	return note
}

// Entry returns the entry that the order in note requests.
func Entry(kind bank.Kind, note []byte, contract int64, moves ...bank.Move) bank.Entry {
	s, err := order.Open(note)
	if err != nil {
		panic(err)
	}
	return bank.Entry{Kind: kind, Contract: contract, ID: s.Request(), Note: note, Moves: moves, Time: 10}
}

// Move returns a move of micro-dollars.
func Move(from, to string, micros int64) bank.Move {
	return bank.Move{From: from, To: to, Amount: bank.Micros(micros)}
}

// Own returns the entry that makes a ledger owned.
func Own() bank.Entry {
	o, err := order.New("own", order.Field{Name: "ledger", Value: Ledger},
		order.Field{Name: "operator", Value: Public("operator")}, order.Field{Name: "recovery", Value: Public("recovery")})
	if err != nil {
		panic(err)
	}
	return bank.Entry{Kind: bank.Owner, Contract: bank.NoContract, ID: "own", Note: []byte(o.String()), Time: 1}
}

// Says returns an owner record by account, signed with the key named signer.
func Says(signer, kind, id, account string, fields ...string) bank.Entry {
	return Entry(bank.Owner, Note([]string{signer}, kind, id, account, fields...), bank.NoContract)
}

// Enrol returns the enrolment of an account by the operator. The key has the same name as the
// account.
func Enrol(account string) bank.Entry {
	return Says("operator", "enrol", "enrol-"+account, "operator", "of", account, "key", Public(account))
}

// Transfer returns a transfer that the payer signed.
func Transfer(id, from, to string, micros int64) bank.Entry {
	note := Note([]string{from}, "transfer", id, from, "to", to, "amount", bank.Micros(micros).String())
	return Entry(bank.Transfer, note, bank.NoContract, Move(from, to, micros))
}

// Mint returns an issue that the bursar signed.
func Mint(id, to string, micros int64) bank.Entry {
	note := Note([]string{"bursar"}, "mint", id, "bursar", "to", to, "amount", bank.Micros(micros).String())
	return Entry(bank.Issue, note, bank.NoContract, Move("mint", to, micros))
}

// Admit returns the admission of a contract of market:lab with an order of its owner. The
// order states the given budget. The given number of micro-dollars is moved to escrow.
func Admit(id, account string, contract, budget, micros int64) bank.Entry {
	note := Note([]string{account}, "order", id, account, "market", "lab", "class", "cac", "budget", bank.Micros(budget).String(), "work", "540")
	note = append(note, `{"decision":"admitted"}`...)
	return Entry(bank.Admit, note, contract, Move(account, bank.EscrowName(contract), micros))
}

// AdmitFor is like Admit, but account project:PROJECT pays.
func AdmitFor(id, account, project string, contract, budget, micros int64) bank.Entry {
	note := Note([]string{account}, "order", id, account, "market", "lab", "class", "cac", "budget", bank.Micros(budget).String(), "work", "540", "project", project)
	note = append(note, `{"decision":"admitted"}`...)
	return Entry(bank.Admit, note, contract, Move("project:"+project, bank.EscrowName(contract), micros))
}

// Adjust returns a change to the budget of a contract of market:lab with an order of its owner.
func Adjust(id, account string, contract, budget int64, moves ...bank.Move) bank.Entry {
	note := Note([]string{account}, "bid", id, account, "market", "lab", "contract", fmt.Sprint(contract), "budget", bank.Micros(budget).String())
	return Entry(bank.Adjust, append(note, `{"bids":[7]}`...), contract, moves...)
}

// Market returns a settlement or penalty that market:lab signed.
func Market(kind bank.Kind, id string, contract int64, moves ...bank.Move) bank.Entry {
	note := Note([]string{"market:lab"}, kind.String(), id, "market:lab", "contract", fmt.Sprint(contract), "moves", order.Digest(moves))
	return Entry(kind, note, contract, moves...)
}

// Begin returns the first entries of an owned ledger. Accounts user:0 to user:9, market:lab
// and bursar have keys. The bursar may mint a thousand dollars in a thousand seconds.
// Market:lab may settle, and host:0 is its payee. Accounts user:0 to user:2 have a dollar
// each.
func Begin() []bank.Entry {
	all := []bank.Entry{Own()}
	for n := range 10 {
		all = append(all, Enrol(fmt.Sprintf("user:%d", n)))
	}
	all = append(all, Enrol("bursar"), Enrol("market:lab"),
		Says("operator", "right", "r1", "operator", "of", "bursar", "right", "mint", "cap", "1000.000000", "period", "1000"),
		Says("operator", "right", "r2", "operator", "of", "market:lab", "right", "settle", "number", fmt.Sprint(Number)),
		Says("operator", "right", "r3", "operator", "of", "host:0", "right", "payee", "market", "lab"))
	for n := range 3 {
		all = append(all, Mint(fmt.Sprintf("m%d", n), fmt.Sprintf("user:%d", n), 1e6))
	}
	return all
}
