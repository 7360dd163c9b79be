package bank

import (
	"errors"
	"strings"
	"testing"
)

// TestBook checks that Book accepts or rejects an entry with account names as the method for
// the entry's kind documents, and that a rejection creates no account.
func TestBook(t *testing.T) {
	t.Parallel()
	one := func(from, to, amount string) []Move { return []Move{{from, to, dollars(amount)}} }
	l := New(&recorder{})
	for _, e := range []Entry{
		{Kind: Issue, Contract: NoContract, Moves: one("mint", "user:ann", "10"), ID: "req-1"},
		{Kind: Admit, Contract: 7, Moves: one("user:ann", "escrow:7", "4")},
		{Kind: Admit, Contract: 8, Moves: one("user:ann", "escrow:8", "1")},
		{Kind: Adjust, Contract: 7, Moves: one("user:ann", "escrow:7", "1")},
		{Kind: Adjust, Contract: 7},
		{Kind: Adjust, Contract: 7, Moves: one("escrow:7", "user:ann", "1")},
		{Kind: Settle, Contract: 7, Moves: append(one("escrow:7", "host:1", "3"), one("escrow:7", "user:ann", "1")...)},
		{Kind: Penalty, Contract: 7, Moves: one("host:1", "user:ann", "0.5")},
		{Kind: Reject, Contract: 9, Note: []byte("price 3")},
		{Kind: Transfer, Contract: NoContract, Moves: one("user:ann", "user:bob", "0.25")},
	} {
		if err := l.Book(&e); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		e    Entry
		want error
	}{
		"settlement that leaves a rest":  {Entry{Kind: Settle, Contract: 8, Moves: one("escrow:8", "host:1", "0.999999")}, ErrBadEntry},
		"settlement of more":             {Entry{Kind: Settle, Contract: 8, Moves: one("escrow:8", "host:1", "1.000001")}, ErrBadEntry},
		"settlement from another escrow": {Entry{Kind: Settle, Contract: 8, Moves: one("escrow:7", "host:1", "1")}, ErrBadEntry},
		"settlement to the mint":         {Entry{Kind: Settle, Contract: 8, Moves: one("escrow:8", "mint", "1")}, ErrBadAccount},
		"settlement of nothing":          {Entry{Kind: Settle, Contract: 7, Moves: one("escrow:7", "host:1", "1")}, ErrNoEscrow},
		"a budget of nothing":            {Entry{Kind: Adjust, Contract: 8, Moves: one("escrow:8", "user:ann", "1")}, ErrBadAmount},
		"a budget from another":          {Entry{Kind: Adjust, Contract: 8, Moves: one("user:bob", "escrow:8", "0.1")}, ErrBadEntry},
		"a budget to another":            {Entry{Kind: Adjust, Contract: 8, Moves: one("escrow:8", "user:bob", "0.1")}, ErrBadEntry},
		"a budget beyond means":          {Entry{Kind: Adjust, Contract: 8, Moves: one("user:ann", "escrow:8", "100")}, ErrInsufficientFunds},
		"a budget in two moves":          {Entry{Kind: Adjust, Contract: 8, Moves: append(one("user:ann", "escrow:8", "0.1"), one("user:ann", "escrow:8", "0.1")...)}, ErrBadEntry},
		"a budget of a settled contract": {Entry{Kind: Adjust, Contract: 7, Moves: one("user:ann", "escrow:7", "0.1")}, ErrNoEscrow},
		"admission to another escrow":    {Entry{Kind: Admit, Contract: 10, Moves: one("user:ann", "escrow:11", "1")}, ErrBadEntry},
		"admission by nobody":            {Entry{Kind: Admit, Contract: 10, Moves: one("user:eve", "escrow:10", "1")}, ErrInsufficientFunds},
		"transfer by nobody":             {Entry{Kind: Transfer, Contract: NoContract, Moves: one("user:eve", "user:mallory", "1")}, ErrInsufficientFunds},
		"transfer out of the mint":       {Entry{Kind: Transfer, Contract: NoContract, Moves: one("mint", "user:ann", "1")}, ErrBadAccount},
		"transfer into the mint":         {Entry{Kind: Transfer, Contract: NoContract, Moves: one("user:ann", "mint", "1")}, ErrBadAccount},
		"transfer into escrow":           {Entry{Kind: Transfer, Contract: NoContract, Moves: one("user:ann", "escrow:8", "1")}, ErrBadAccount},
		"transfer with a contract":       {Entry{Kind: Transfer, Contract: 8, Moves: one("user:ann", "user:bob", "1")}, ErrBadContract},
		"transfer of nothing":            {Entry{Kind: Transfer, Contract: NoContract}, ErrBadEntry},
		"issue out of an account":        {Entry{Kind: Issue, Contract: NoContract, Moves: one("user:ann", "user:bob", "1")}, ErrBadAccount},
		"penalty of no contract":         {Entry{Kind: Penalty, Contract: 9, Moves: one("user:ann", "user:bob", "1")}, ErrBadContract},
		"penalty out of the mint":        {Entry{Kind: Penalty, Contract: 7, Moves: one("mint", "user:bob", "1")}, ErrBadAccount},
		"rejection that moves":           {Entry{Kind: Reject, Contract: 12, Moves: one("user:ann", "user:bob", "1")}, ErrBadEntry},
		"no kind":                        {Entry{Contract: NoContract}, ErrBadEntry},
		"id with a space":                {Entry{Kind: Reject, Contract: 12, ID: "a b"}, ErrBadEntry},
		"id too long":                    {Entry{Kind: Reject, Contract: 12, ID: strings.Repeat("x", MaxID+1)}, ErrBadEntry},
		"the past":                       {Entry{Kind: Reject, Contract: 12, Time: -1}, ErrBadTime},
	} {
		if err := l.Book(&c.e); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, ok := l.Lookup("user:mallory"); ok || l.Entries() != 10 {
		t.Errorf("refusals left %d entries, account of mallory %v; want 10 and none", l.Entries(), ok)
	}
	if err := l.Replay(&Entry{Seq: 9, Kind: Reject, Contract: 12}); !errors.Is(err, ErrBadEntry) {
		t.Errorf("replay with a gap: %v, want ErrBadEntry", err)
	}
}
