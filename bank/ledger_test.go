package bank

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// dollars parses an amount that must be valid.
func dollars(s string) Amount {
	a, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return a
}

func mustAccount(t testing.TB, l *Ledger, name string) Account {
	t.Helper()
	a, err := l.Account(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestLife walks one contract through the ledger as in spec §8: issue, admit, settle with a
// refund, penalty.
func TestLife(t *testing.T) {
	t.Parallel()
	l := New(nil)
	ann, host, provider := mustAccount(t, l, "user:ann"), mustAccount(t, l, "host:h03"), mustAccount(t, l, "provider")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(l.Mint(0, ann, dollars("100")))
	must(l.Mint(0, provider, dollars("50")))
	must(l.Hold(1, 17, ann, dollars("12.5"), nil))
	if got, open := l.Escrow(17); got != dollars("12.5") || !open {
		t.Errorf("escrow of 17 = %v, %v, want 12.5, open", got, open)
	}
	refund, err := l.Settle(9, 17, []Payment{{host, dollars("4.25")}, {provider, Amount{}}}, nil)
	must(err)
	if refund != dollars("8.25") {
		t.Errorf("refund = %v, want 8.25", refund)
	}
	if paid, err := l.Penalty(9, 17, []Debit{{From: provider, Most: dollars("1")}}, ann, nil); err != nil || paid != dollars("1") {
		t.Errorf("penalty = %v, %v, want 1", paid, err)
	}
	must(l.Reject(9, 18, nil))
	must(l.Post(10, nil, Posting{ann, host, dollars("0.5")}, Posting{host, provider, dollars("4.75")}))
	for a, want := range map[Account]string{ann: "96.25", host: "0", provider: "53.75", issuer: "-150"} {
		if got := l.Balance(a); got != dollars(want) {
			t.Errorf("%s = %v, want %v", l.Name(a), got, want)
		}
	}
	if _, open := l.Escrow(17); open {
		t.Error("escrow of 17 is open after its settlement")
	}
	if l.Issued() != dollars("150") || l.Entries() != 7 || l.Now() != 10 {
		t.Errorf("issued %v in %d entries until %v s, want 150 in 7 until 10", l.Issued(), l.Entries(), l.Now())
	}
}

// TestRefusals checks each error that the methods document, and that a rejected entry moves no
// money.
func TestRefusals(t *testing.T) {
	t.Parallel()
	l := New(nil)
	ann, bob := mustAccount(t, l, "user:ann"), mustAccount(t, l, "user:bob")
	for _, err := range []error{
		l.Mint(5, ann, dollars("10")), l.Hold(5, 1, ann, dollars("4"), nil), l.Hold(5, 2, ann, dollars("1"), nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Settle(5, 2, nil, nil); err != nil {
		t.Fatal(err)
	}
	escrow, _ := l.contracts.escrow(1)
	settle := func(pay ...Payment) error { _, err := l.Settle(6, 1, pay, nil); return err }
	penalty := func(contract int64, from Account, a Amount) error {
		_, err := l.Penalty(6, contract, []Debit{{From: from, Most: a}}, ann, nil)
		return err
	}
	for name, c := range map[string]struct{ err, want error }{
		"hold more than there is":    {l.Hold(6, 3, ann, dollars("6.000001"), nil), ErrInsufficientFunds},
		"hold nothing":               {l.Hold(6, 3, ann, Amount{}, nil), ErrBadAmount},
		"hold less than nothing":     {l.Hold(6, 3, ann, dollars("-1"), nil), ErrBadAmount},
		"hold an open contract":      {l.Hold(6, 1, ann, dollars("1"), nil), ErrUsedContract},
		"hold a settled contract":    {l.Hold(6, 2, ann, dollars("1"), nil), ErrUsedContract},
		"hold a negative contract":   {l.Hold(6, -1, ann, dollars("1"), nil), ErrBadContract},
		"hold from the mint":         {l.Hold(6, 3, issuer, dollars("1"), nil), ErrBadAccount},
		"hold from an escrow":        {l.Hold(6, 3, escrow, dollars("1"), nil), ErrBadAccount},
		"hold from nobody":           {l.Hold(6, 3, 99, dollars("1"), nil), ErrBadAccount},
		"hold in the past":           {l.Hold(4, 3, ann, dollars("1"), nil), ErrBadTime},
		"hold at no time":            {l.Hold(math.NaN(), 3, ann, dollars("1"), nil), ErrBadTime},
		"hold never":                 {l.Hold(math.Inf(1), 3, ann, dollars("1"), nil), ErrBadTime},
		"hold with a long note":      {l.Hold(6, 3, ann, dollars("1"), make([]byte, MaxNote+1)), ErrBadEntry},
		"settle more than is held":   {settle(Payment{bob, dollars("3")}, Payment{bob, dollars("1.000001")}), ErrInsufficientFunds},
		"settle a negative payment":  {settle(Payment{bob, dollars("-1")}), ErrBadAmount},
		"settle to the mint":         {settle(Payment{issuer, dollars("1")}), ErrBadAccount},
		"settle to an escrow":        {settle(Payment{escrow, dollars("1")}), ErrBadAccount},
		"settle twice":               {func() error { _, err := l.Settle(6, 2, nil, nil); return err }(), ErrNoEscrow},
		"settle what was never":      {func() error { _, err := l.Settle(6, 9, nil, nil); return err }(), ErrNoEscrow},
		"penalty of no contract":     {penalty(9, bob, dollars("1")), ErrBadContract},
		"penalty beyond means":       {penalty(1, bob, dollars("1")), nil},
		"penalty of nothing":         {penalty(1, bob, Amount{}), ErrBadAmount},
		"penalty from nobody":        {penalty(1, 99, dollars("1")), ErrBadAccount},
		"post to oneself":            {l.Post(6, nil, Posting{ann, ann, dollars("1")}), ErrBadAccount},
		"post from escrow":           {l.Post(6, nil, Posting{escrow, ann, dollars("1")}), ErrBadAccount},
		"post half":                  {l.Post(6, nil, Posting{ann, bob, dollars("1")}, Posting{ann, bob, dollars("5.000001")}), ErrInsufficientFunds},
		"mint more than can be told": {l.Mint(6, ann, Micros(math.MaxInt64)), errRange},
		"reject a negative contract": {l.Reject(6, -1, nil), ErrBadContract},
		"account kept for contracts": {func() error { _, err := l.Account("escrow:3"); return err }(), ErrBadAccount},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	if l.Entries() != 4 || l.Balance(ann) != dollars("6") || l.Balance(bob) != (Amount{}) || l.Balance(escrow) != dollars("4") {
		t.Errorf("after refusals: %d entries, ann %v, bob %v, escrow %v; want 4, 6, 0, 4", l.Entries(), l.Balance(ann), l.Balance(bob), l.Balance(escrow))
	}
	var short *Shortfall
	err := settle(Payment{bob, dollars("3")}, Payment{bob, dollars("2")})
	if !errors.As(err, &short) || short.Has != dollars("4") || short.Needs != dollars("5") {
		t.Errorf("overpaid settlement: %v, want both figures, 4 and 5", err)
	}
}

// TestNames checks the grammar of accounts.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"provider", "user:7", "host:h03.rack-2_b", "user:org:ann", "escrows"} {
		if err := CheckName(s); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []string{"", ":", "user:", "user::a", "User:a", "user:-a", "user:=1", "user a", "user:a\n", "user:é", "7", string(make([]byte, 65))} {
		if CheckName(s) == nil {
			t.Errorf("CheckName(%q) accepts", s)
		}
	}
}

// recorder is a journal in memory that can be made to fail.
type recorder struct {
	entries []Entry
	fail    bool
}

func (r *recorder) Append(e *Entry) error {
	if r.fail {
		return errors.New("disk full")
	}
	c := *e
	c.Moves = append([]Move(nil), e.Moves...)
	c.Note = append([]byte(nil), e.Note...)
	r.entries = append(r.entries, c)
	return nil
}

// model is a simple ledger that uses maps and applies the rules one by one.
type model struct {
	balance map[string]int64
	escrow  map[int64]int64
	owner   map[int64]string
	used    map[int64]bool
	issued  int64
}

// TestModel compares the ledger with the model over random contracts, with journals that
// sometimes fail. At every step, the sum of all balances must equal the amount issued, and no
// account may be overdrawn. A ledger that replays the journal must be equal.
func TestModel(t *testing.T) {
	t.Parallel()
	names := []string{"user:a", "user:b", "host:1", "host:2", "provider"}
	amounts := rapid.OneOf(rapid.Int64Range(-2, 50), rapid.Just(int64(math.MaxInt64)))
	steps := 0
	defer func() { t.Logf("%d steps", steps) }()
	rapid.Check(t, func(t *rapid.T) {
		r := &recorder{}
		l := New(r)
		m := model{map[string]int64{}, map[int64]int64{}, map[int64]string{}, map[int64]bool{}, 0}
		var acc []Account
		for _, n := range names {
			a, _ := l.Account(n)
			acc = append(acc, a)
		}
		who := rapid.IntRange(0, len(names)-1)
		contracts := rapid.Int64Range(-1, 8)
		agree := func(what string, err error, want bool) bool {
			t.Helper()
			if want = want && !r.fail; (err == nil) != want {
				t.Fatalf("%s: %v, want success %v", what, err, want)
			}
			return want
		}
		t.Repeat(map[string]func(*rapid.T){
			"mint": func(t *rapid.T) {
				i, a := who.Draw(t, "to"), amounts.Draw(t, "a")
				if agree("mint", l.Mint(0, acc[i], Micros(a)), a > 0 && a <= math.MaxInt64-m.issued) {
					m.balance[names[i]] += a
					m.issued += a
				}
			},
			"post": func(t *rapid.T) {
				i, j, a := who.Draw(t, "from"), who.Draw(t, "to"), amounts.Draw(t, "a")
				if agree("post", l.Post(0, nil, Posting{acc[i], acc[j], Micros(a)}), i != j && a > 0 && a <= m.balance[names[i]]) {
					m.balance[names[i]] -= a
					m.balance[names[j]] += a
				}
			},
			"hold": func(t *rapid.T) {
				i, c, a := who.Draw(t, "owner"), contracts.Draw(t, "contract"), amounts.Draw(t, "a")
				if agree("hold", l.Hold(0, c, acc[i], Micros(a), nil), c >= 0 && !m.used[c] && a > 0 && a <= m.balance[names[i]]) {
					m.balance[names[i]] -= a
					m.escrow[c], m.owner[c], m.used[c] = a, names[i], true
				}
			},
			"settle": func(t *rapid.T) {
				c := contracts.Draw(t, "contract")
				held, open := m.escrow[c]
				rest, good := held, open
				var pay []Payment
				to := rapid.SliceOfN(who, 0, 3).Draw(t, "payees")
				for _, i := range to {
					a := amounts.Draw(t, "a")
					pay = append(pay, Payment{acc[i], Micros(a)})
					good = good && a >= 0 && a <= rest
					rest -= a
				}
				refund, err := l.Settle(0, c, pay, nil)
				if agree("settle", err, good) {
					for k, i := range to {
						m.balance[names[i]] += pay[k].Amount.Micros()
					}
					m.balance[m.owner[c]] += rest
					delete(m.escrow, c)
					if refund.Micros() != rest {
						t.Fatalf("refund %v, want %v", refund, Micros(rest))
					}
				}
			},
			"adjust": func(t *rapid.T) {
				c, a := contracts.Draw(t, "contract"), amounts.Draw(t, "a")
				held, open := m.escrow[c]
				if owner := m.owner[c]; agree("adjust", l.Adjust(0, c, Micros(a), nil), open && a > 0 && a-held <= m.balance[owner]) {
					m.balance[owner] -= a - held
					m.escrow[c] = a
				}
			},
			"penalty": func(t *rapid.T) {
				i, j, a, c := who.Draw(t, "from"), who.Draw(t, "to"), amounts.Draw(t, "a"), contracts.Draw(t, "contract")
				paid, err := l.Penalty(0, c, []Debit{{From: acc[i], Most: Micros(a)}}, acc[j], nil)
				if a = min(a, m.balance[names[i]]); paid.Sign() == 0 && err == nil && a == 0 && m.used[c] {
					return // no entry is expected
				}
				if agree("penalty", err, m.used[c] && i != j && a > 0) {
					m.balance[names[i]] -= a
					m.balance[names[j]] += a
					if paid.Micros() != a {
						t.Fatalf("paid %v, want %v", paid, Micros(a))
					}
				}
			},
			"break or mend the journal": func(t *rapid.T) { r.fail = !r.fail },
			"": func(t *rapid.T) {
				steps++
				again := New(nil)
				for i := range r.entries {
					e := r.entries[i]
					if err := again.Replay(&e); err != nil {
						t.Fatal(err)
					}
				}
				for _, l := range []*Ledger{l, again} {
					var sum int64
					for name, b := range l.Balances() {
						sum += b.Micros()
						if name != issuerName && b.Sign() < 0 {
							t.Fatalf("%s is overdrawn: %v", name, b)
						}
					}
					if sum != 0 || l.Issued().Micros() != m.issued {
						t.Fatalf("balances sum to %d, issued %v; want 0, %v", sum, l.Issued(), Micros(m.issued))
					}
					for i, name := range names {
						a, ok := l.Lookup(name)
						if got := l.Balance(a).Micros(); got != m.balance[name] && ok {
							t.Fatalf("%s (%d) = %d, want %d", name, i, got, m.balance[name])
						}
					}
					for c := range m.used {
						got, open := l.Escrow(c)
						if want, ok := m.escrow[c]; got.Micros() != want || open != ok {
							t.Fatalf("escrow of %d = %v, %v, want %d, %v", c, got, open, want, ok)
						}
					}
				}
			},
		})
	})
}

// TestReset checks that a ledger after Reset is empty but has the same accounts, and that only
// the first run allocates memory.
func TestReset(t *testing.T) {
	l := New(nil)
	ann, host := mustAccount(t, l, "user:ann"), mustAccount(t, l, "host:1")
	run := func() {
		l.Reset(nil)
		if err := l.Mint(0, ann, Micros(1e9)); err != nil {
			t.Error(err)
		}
		for c := range int64(100) {
			if err := l.Hold(1, c, ann, Micros(5), nil); err != nil {
				t.Error(err)
			}
		}
		for c := range int64(99) {
			pay := [...]Payment{{host, Micros(2)}}
			if _, err := l.Settle(2, c, pay[:], nil); err != nil {
				t.Error(err)
			}
		}
	}
	run()
	if got := testing.AllocsPerRun(10, run); got != 0 {
		t.Errorf("a run allocates %v times, want none", got)
	}
	l.Reset(nil)
	for name, b := range l.Balances() {
		if b.Sign() != 0 || name == EscrowName(99) {
			t.Errorf("after reset %s has %v", name, b)
		}
	}
}

// BenchmarkReplication books the entries of a paper replication, about 400 postings in 120
// entries, and reports the nanoseconds per posting.
func BenchmarkReplication(b *testing.B) {
	l := New(nil)
	var users, owners []Account
	for i := range 15 {
		u, _ := l.Account("user:" + string(rune('a'+i)))
		h, _ := l.Account("host:" + string(rune('a'+i)))
		users, owners = append(users, u), append(owners, h)
	}
	grant, budget, charge := Micros(1e9), Micros(1e6), Micros(1e5)
	postings := 0
	b.ReportAllocs()
	for b.Loop() {
		l.Reset(nil)
		postings = 0
		for _, u := range users {
			l.Mint(0, u, grant)
			postings++
		}
		var pay [5]Payment
		for c := range int64(50) {
			l.Hold(float64(c), c, users[c%15], budget, nil)
			for i := range pay {
				pay[i] = Payment{owners[(int(c)+i)%15], charge}
			}
			postings++
		}
		for c := range int64(50) {
			if _, err := l.Settle(float64(50+c), c, pay[:], nil); err != nil {
				b.Fatal(err)
			}
			postings += 6
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(postings), "ns/posting")
}
