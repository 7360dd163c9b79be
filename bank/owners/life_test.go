package owners_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/order"
	"bourse/bank/owners"
	. "bourse/bank/owners/ownerstest"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A ledgerAt is an owned ledger in memory whose clock a test sets.
type ledgerAt struct {
	*store.Sequencer
	fs  *vfs.MemFS
	now *float64
	l   *bank.Ledger
}

// newLedgerAt creates a ledger with the given entries. Its id may differ from [Ledger].
func newLedgerAt(t testing.TB, now *float64, entries ...bank.Entry) *ledgerAt {
	t.Helper()
	a := &ledgerAt{fs: vfs.NewCrashableMem(), now: now}
	j, err := store.Create("ledger", a.options())
	check(t, err)
	for i := range entries {
		entries[i].Seq = int64(i + 1)
		check(t, j.Append(&entries[i]))
	}
	check(t, j.Close())
	a.open(t)
	return a
}

func (a *ledgerAt) options() store.Options {
	return store.Options{FS: a.fs, Now: func() float64 { return *a.now }}
}

func (a *ledgerAt) open(t testing.TB) {
	t.Helper()
	j, l, err := store.Open("ledger", a.options())
	check(t, err)
	a.Sequencer, a.l = store.NewSequencer(j, l), l
	t.Cleanup(func() { a.Close() })
}

// crash cuts the power, and opens the ledger again.
func (a *ledgerAt) crash(t testing.TB) {
	t.Helper()
	fs := a.fs.CrashClone(vfs.CrashCloneCfg{})
	check(t, a.Close())
	a.fs = fs
	a.open(t)
}

// copied returns a copy of the ledger that is made from its entries.
func (a *ledgerAt) copied(t testing.TB) *ledgerAt {
	t.Helper()
	r, err := store.OpenReader("ledger", store.Options{FS: a.fs})
	check(t, err)
	defer r.Close()
	var all []bank.Entry
	for e := range r.Entries() {
		c := *e
		c.Moves, c.Note = slices.Clone(e.Moves), slices.Clone(e.Note)
		all = append(all, c)
	}
	check(t, r.Err())
	return newLedgerAt(t, a.now, all...)
}

func (a *ledgerAt) balances(t testing.TB) (all map[string]bank.Amount) {
	t.Helper()
	check(t, a.Look(t.Context(), func(l *bank.Ledger) { all = maps.Collect(l.Balances()) }))
	return all
}

// ask returns the entry that an order requests by itself. The order expires ten minutes from
// now and is signed by the keys with the given names.
func ask(t testing.TB, ledger string, now float64, signers []string, kind, id, account string, fields ...string) bank.Entry {
	t.Helper()
	o, err := order.For(kind, ledger, id, account, now+600, fields...)
	check(t, err)
	note := []byte(o.String())
	for _, name := range signers {
		note, err = order.Sign(note, Private(name))
		check(t, err)
	}
	e, err := owners.Entry(note, now)
	check(t, err)
	return e
}

// A told is an order that was sent, with the reply.
type told struct {
	e       bank.Entry
	receipt store.Receipt
	err     error
	final   bool
}

// TestLife checks the life of an order. A proxy stores every signed text of a random history in
// which keys are changed and revoked, and the ledger crashes and is restored from a copy. The
// proxy sends each text again, at once and later, to the ledger, to copies of it and to a
// ledger with another id. Each answer must equal the first answer, and no balance may change.
func TestLife(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	now := 1000.0
	a := newLedgerAt(t, &now, Begin()...)
	users := []string{"user:0", "user:1", "user:2"}
	keys := map[string]string{}
	for _, name := range users {
		keys[name] = name
	}
	var all []told
	var withheld []bank.Entry
	send := func(e bank.Entry) {
		t.Helper()
		x := told{e: e}
		x.receipt, x.err = a.Do(t.Context(), e)
		if was, ok, err := a.Answer(t.Context(), e.ID); err != nil || ok && was.Kind == bank.Refuse && x.err != nil {
			check(t, err)
			x.final = true
		}
		all = append(all, x)
	}
	again := func(l *ledgerAt, x told) {
		t.Helper()
		before := l.balances(t)
		r, err := l.Do(t.Context(), x.e)
		if after := l.balances(t); !maps.Equal(after, before) {
			t.Fatalf("seed %d: %s again: balances %v, want %v\n%s", seed, x.e.ID, after, before, x.e.Note)
		}
		switch {
		case x.err == nil && (err != nil || r != x.receipt):
			t.Errorf("seed %d: %s again: %v %v, want %v", seed, x.e.ID, r, err, x.receipt)
		case x.err != nil && err == nil, x.final && fmt.Sprint(err) != fmt.Sprint(x.err):
			t.Errorf("seed %d: %s again: %v %v, want %v", seed, x.e.ID, r, err, x.err)
		}
	}
	var early *ledgerAt
	var had int
	for n := range 120 {
		now += float64(src.IntN(90))
		id := fmt.Sprint("life", n)
		who, to := users[src.IntN(3)], users[src.IntN(3)]
		switch k := src.IntN(16); {
		case k < 7 && who != to:
			e := ask(t, Ledger, now, []string{keys[who]}, "transfer", id, who, "to", to, "amount", bank.Micros(1+src.Int64N(3e6)).String())
			if src.IntN(6) == 0 {
				withheld = append(withheld, e)
				break
			}
			if src.IntN(6) == 0 { // an unsigned order is refused and does not use up its id
				with := e
				with.Note = append(slices.Clone(e.Note), "note rent\n"...)
				if _, err := a.Do(t.Context(), with); !errors.Is(err, store.ErrRefused) {
					t.Errorf("seed %d: a line that nobody signed: %v", seed, err)
				}
			}
			send(e)
		case k == 7:
			send(ask(t, Ledger, now, []string{"bursar"}, "mint", id, "bursar", "to", who, "amount", bank.Micros([]int64{1 + src.Int64N(3e6), 2000e6}[src.IntN(2)]).String()))
		case k == 8:
			next := fmt.Sprint(who, "-", n)
			send(ask(t, Ledger, now, []string{keys[who]}, "rotate", id, who, "key", Public(next)))
			keys[who] = next
		case k == 9:
			next := fmt.Sprint(who, "-", n)
			send(ask(t, Ledger, now, []string{keys[who]}, "revoke", id, who, "of", who))
			send(ask(t, Ledger, now, []string{keys[who]}, "transfer", id+"r", who, "to", "user:9", "amount", "0.000001"))
			send(ask(t, Ledger, now, []string{"operator"}, "recover", id+"c", "operator", "of", who, "key", Public(next)))
			keys[who] = next
		case k == 10:
			a.crash(t)
		case k == 11:
			a = a.copied(t)
		case k == 12:
			early, had = a.copied(t), len(all)
		default:
			if len(all) > 0 {
				again(a, all[src.IntN(len(all))])
			}
		}
	}
	if early == nil {
		early, had = a.copied(t), len(all)
	}
	now += 86400 // by then, all orders have expired
	sister := newLedgerAt(t, &now, sisterly(t, now)...)
	copied := a.copied(t)
	src.Shuffle(len(withheld), func(i, j int) { withheld[i], withheld[j] = withheld[j], withheld[i] })
	for _, e := range withheld {
		for _, l := range []*ledgerAt{a, copied, early} {
			before := l.balances(t)
			if _, err := l.Do(t.Context(), e); err == nil || !maps.Equal(before, l.balances(t)) {
				t.Errorf("seed %d: %s, which was withheld: %v", seed, e.ID, err)
			}
		}
	}
	finals, booked := 0, 0
	for _, i := range src.Perm(len(all)) {
		x := all[i]
		again(a, x)
		again(copied, x)
		if i < had {
			again(early, x)
		} else {
			again(early, told{e: x.e, err: errors.New("it has expired")})
		}
		again(sister, told{e: x.e, err: errors.New("it is of another ledger")})
		if x.final {
			finals++
		} else if x.err == nil {
			booked++
		}
	}
	if finals == 0 || booked < 10 {
		t.Errorf("seed %d: %d orders were booked, %d refused for good", seed, booked, finals)
	}
	check(t, a.Close())
	if r := audited(t, a.fs, audit.Options{}); !r.Clean() || r.Refused < int64(finals) {
		t.Errorf("seed %d: %v, %d refused", seed, r.Findings, r.Refused)
	}
}

// sisterly returns the first entries of a ledger with another id whose accounts have the same
// names and keys.
func sisterly(t testing.TB, now float64) []bank.Entry {
	t.Helper()
	const id = "6f7c3e9a0b1d2c4e6f8091a2b3c4d5e6"
	own := Own()
	own.Note = []byte(strings.Replace(string(own.Note), Ledger, id, 1))
	list := []bank.Entry{own}
	for _, account := range []string{"user:0", "user:1", "user:2", "bursar"} {
		list = append(list, ask(t, id, now, []string{"operator"}, "enrol", "enrol-"+account, "operator", "of", account, "key", Public(account)))
	}
	list = append(list, ask(t, id, now, []string{"operator"}, "right", "r1", "operator", "of", "bursar", "right", "mint", "cap", "1000.000000", "period", "1000"))
	for _, account := range []string{"user:0", "user:1", "user:2"} {
		list = append(list, ask(t, id, now, []string{"bursar"}, "mint", "m-"+account, "bursar", "to", account, "amount", "10.000000"))
	}
	return list
}

// TestRefusedForGood checks that an order refused for insufficient funds is never booked:
// someone who intercepted it cannot have it booked once there is money.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	now := 1000.0
	a := newLedgerAt(t, &now, Begin()...)
	much := ask(t, Ledger, now, []string{"user:0"}, "transfer", "rent", "user:0", "to", "user:1", "amount", "5.000000")
	_, first := a.Do(t.Context(), much)
	var short *bank.Shortfall
	if !errors.As(first, &short) || short.Needs != bank.Micros(5e6) || short.Account != "user:0" {
		t.Fatalf("refused as %v", first)
	}
	check(t, second(a.Do(t.Context(), Mint("more", "user:0", 100e6))))
	for range 2 {
		_, err := a.Do(t.Context(), much)
		if errors.As(err, &short); err == nil || err.Error() != first.Error() || short.Has != bank.Micros(1e6) {
			t.Errorf("again: %v, want %v", err, first)
		}
		other := ask(t, Ledger, now, []string{"user:0"}, "transfer", "rent", "user:0", "to", "user:1", "amount", "4.000000")
		if _, err := a.Do(t.Context(), other); !errors.Is(err, store.ErrOtherBody) {
			t.Errorf("another text under the id: %v", err)
		}
		a.crash(t)
		now += 1e6
	}
	once := ask(t, Ledger, now, []string{"user:0"}, "transfer", "rent", "user:0", "to", "user:1", "amount", "5.000000")
	if _, err := store.Once(t.Context(), a, once); err == nil || err.Error() != first.Error() {
		t.Errorf("signed again: %v, want %v", err, first)
	}
}

func second[T any](_ T, err error) error { return err }

// TestSignedText checks that an order is identified by its signed text. The order of its
// signatures does not matter, and an order signed again with another expiry under the same id
// gets the reply to the first one.
func TestSignedText(t *testing.T) {
	t.Parallel()
	now := 1000.0
	a := newLedgerAt(t, &now, append(Begin(),
		Says("operator", "right", "two", "operator", "of", "user:5", "right", "mint", "cap", "5.000000", "period", "1000", "with", "user:6"))...)
	two := func(signers ...string) bank.Entry {
		return ask(t, Ledger, now, signers, "mint", "two", "user:5", "to", "user:1", "amount", "1.000000")
	}
	r, err := a.Do(t.Context(), two("user:5", "user:6"))
	check(t, err)
	if again, err := a.Do(t.Context(), two("user:6", "user:5")); err != nil || again != r {
		t.Errorf("signed in another order: %v %v, want %v", again, err, r)
	}
	now += 5
	if _, err := a.Do(t.Context(), two("user:5", "user:6")); !errors.Is(err, store.ErrOtherBody) {
		t.Errorf("another text: %v", err)
	}
	if again, err := store.Once(t.Context(), a, two("user:5", "user:6")); err != nil || again != r {
		t.Errorf("signed again: %v %v, want %v", again, err, r)
	}
	e := ask(t, Ledger, now, []string{"user:0"}, "transfer", "x", "user:0", "to", "user:1", "amount", "0.000001")
	stolen := ask(t, Ledger, now, []string{"user:1"}, "transfer", "x", "user:0", "to", "user:1", "amount", "0.000001")
	if _, err := a.Do(t.Context(), stolen); !errors.Is(err, store.ErrRefused) { // this refusal does not use up the id
		t.Errorf("signed by another: %v", err)
	}
	forged := e
	forged.Note = append(slices.Clone(e.Note), "note rent\n"...)
	for range 2 {
		if _, err := a.Do(t.Context(), forged); err == nil || !strings.Contains(err.Error(), "found unsigned text") && !errors.Is(err, store.ErrOtherBody) {
			t.Errorf("with a line that nobody signed: %v", err)
		}
		check(t, second(a.Do(t.Context(), e)))
	}
}

// TestClock checks that the ledger's clock dates entries, that nothing is booked while the
// clock is more than a minute behind the last entry, and that a wrong clock causes no final
// refusal.
func TestClock(t *testing.T) {
	t.Parallel()
	now := 1000.0
	a := newLedgerAt(t, &now, Begin()...)
	minted := 0
	for n := range 6 { // each mints the full hourly cap and is dated an hour later
		e := Mint(fmt.Sprint("cap", n), "user:0", 500e6)
		e.Time = now + 3600*float64(n)
		if _, err := a.Do(t.Context(), e); err == nil {
			minted++
		}
	}
	if minted != 2 { // from second 1,000 on, the account may mint a thousand dollars
		t.Errorf("%d mints of 6 are booked", minted)
	}
	ahead := Admit("a", "user:0", Contract(0), 100, 100)
	for _, by := range []float64{61, 59} {
		ahead.Time = now + by
		if _, err := a.Do(t.Context(), ahead); errors.Is(err, store.ErrClock) != (by > 60) || err == nil && by > 60 {
			t.Errorf("an admission %v s ahead: %v", by, err)
		}
	}
	now += 18000
	late := ask(t, Ledger, now, []string{"user:1"}, "transfer", "ahead", "user:1", "to", "user:2", "amount", "0.000001")
	check(t, second(a.Do(t.Context(), late)))
	now -= 18000
	e := ask(t, Ledger, now, []string{"user:1"}, "transfer", "right", "user:1", "to", "user:2", "amount", "0.000001")
	if _, err := a.Do(t.Context(), e); !errors.Is(err, store.ErrClock) || !strings.Contains(err.Error(), "18000 s later") {
		t.Errorf("behind the last entry: %v", err)
	}
	o, err := order.New("read", order.Field{Name: "ledger", Value: Ledger}, order.Field{Name: "market", Value: "bank"},
		order.Field{Name: "id", Value: "r"}, order.Field{Name: "account", Value: "user:1"}, order.Expiry(now+30))
	check(t, err)
	read, err := order.Sign([]byte(o.String()), Private("user:1"))
	check(t, err)
	for at, good := range map[float64]bool{now: true, now + 29: true, now - 31: false, now + 32: false} {
		if err := a.Read(t.Context(), read, at, func(*bank.Ledger, owners.Sight) {}); (err == nil) != good {
			t.Errorf("read at %v: %v", at, err)
		}
	}
	now += 17999
	o = must(order.For("transfer", Ledger, "right", "user:1", now, "to", "user:2", "amount", "0.000001"))
	note, err := order.Sign([]byte(o.String()), Private("user:1"))
	check(t, err)
	good, err := owners.Entry(note, 0)
	check(t, err)
	check(t, second(a.Do(t.Context(), good)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestTwins checks that no account is opened, by a payment or by a key, whose name differs
// from another only in capitals. A ledger that already has such accounts continues with both.
func TestTwins(t *testing.T) {
	t.Parallel()
	now := 1000.0
	pay := func(to string) bank.Entry {
		return ask(t, Ledger, now, []string{"user:0"}, "transfer", "to-"+to, "user:0", "to", to, "amount", "0.000001")
	}
	enrols := func(of string) bank.Entry {
		return ask(t, Ledger, now, []string{"operator"}, "enrol", "enrol-"+of, "operator", "of", of, "key", Public(of))
	}
	old := append(Begin(), Transfer("old1", "user:0", "user:Eve", 1), Transfer("old2", "user:0", "user:eve", 1))
	a := newLedgerAt(t, &now, old...)
	for _, c := range []struct {
		e    bank.Entry
		good bool
	}{
		{pay("user:Bob"), true}, {pay("user:bob"), false}, {pay("user:BOB"), false}, {enrols("user:bob"), false}, {enrols("user:Bob"), true},
		{pay("host:H1"), true}, {pay("host:h1"), false}, {enrols("user:ann"), true}, {pay("user:Ann"), false}, {enrols("user:ANN"), false},
		{pay("user:Eve"), true}, {pay("user:eve"), true}, {pay("user:EVE"), false}, {enrols("user:eve"), true},
	} {
		a.crash(t)
		if _, err := a.Do(t.Context(), c.e); (err == nil) != c.good || err != nil && !errors.Is(err, bank.ErrBadAccount) {
			t.Errorf("%s: %v, want good %v", c.e.ID, err, c.good)
		}
	}
}

// TestSpans checks that an account never mints more than its cap within any span of one
// period's length, according to both door and audit, for any times and amounts. When a mint is
// older than one period, its amount can be minted again. The last mints are still known after
// the ledger is reopened.
func TestSpans(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	const cap, period = 100e6, 1000
	now := 1000.0
	a := newLedgerAt(t, &now, append(Begin(),
		Says("operator", "right", "span", "operator", "of", "user:5", "right", "mint", "cap", "100.000000", "period", "1000", "window", "sliding"))...)
	type mint struct {
		at     float64
		micros int64
	}
	var all []mint
	minted := func(from, to float64) (sum int64) { // the span starts after from and includes to
		for _, m := range all {
			if m.at > from && m.at <= to {
				sum += m.micros
			}
		}
		return sum
	}
	over := 0
	for n := range 250 {
		now += []float64{0, 1, 300, 999, 1000}[src.IntN(5)] * float64(src.IntN(2)) * float64(1+src.IntN(2)) / 2
		micros := 1 + src.Int64N(cap/[]int64{1, 100}[src.IntN(2)])
		e := ask(t, Ledger, now, []string{"user:5"}, "mint", fmt.Sprint("s", n), "user:5", "to", "user:5", "amount", bank.Micros(micros).String())
		before := minted(now-period, now)
		_, err := a.Do(t.Context(), e)
		switch {
		case err == nil:
			all = append(all, mint{now, micros})
			if before+micros > cap {
				t.Fatalf("seed %d: %d micro-dollars within %d s", seed, before+micros, period)
			}
		case !errors.Is(err, store.ErrRefused):
			t.Fatal(err)
		case before+micros <= cap && len(all) < 64: // this many issues are stored separately
			t.Fatalf("seed %d: refused though %d micro-dollars are left: %v", seed, cap-before, err)
		default:
			over++
		}
		if src.IntN(20) == 0 {
			a.crash(t)
		}
	}
	if over < 10 || len(all) < 20 {
		t.Errorf("seed %d: %d minted, %d refused", seed, len(all), over)
	}
	past := ask(t, Ledger, now, []string{"user:5"}, "mint", "past", "user:5", "to", "user:5", "amount", bank.Micros(cap-minted(now-period, now)+1).String())
	past.Seq = 1
	check(t, a.Close())
	if r := audited(t, a.fs, audit.Options{}); !r.Clean() {
		t.Errorf("seed %d: %v", seed, r.Findings)
	}
	j, l, err := store.Open("ledger", store.Options{FS: a.fs}) // entries booked without the door's checks
	check(t, err)
	past.Seq = l.Entries() + 1
	check(t, j.Append(&past))
	check(t, j.Close())
	if r := audited(t, a.fs, audit.Options{}); r.Clean() || r.Findings[0].Seq != past.Seq || !strings.Contains(r.Findings[0].String(), "a mint of") {
		t.Errorf("seed %d: %v", seed, r.Findings)
	}
}

// TestOlder checks that a ledger of an earlier version is audited clean, opened and continued.
// Its orders expire in 2099, its mints have caps per calendar period, and two of its accounts
// differ only in a capital. Repeated orders get their original replies.
func TestOlder(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "older.log"))
	check(t, err)
	r, err := audit.Log(bytes.NewReader(text), audit.Options{})
	if err != nil || !r.Clean() || r.Entries != 18 || r.Orders != 15 {
		t.Fatalf("%+v, %v", r, err)
	}
	var all []bank.Entry
	for line := range bytes.Lines(text) {
		var l export.Line
		check(t, json.Unmarshal(line, &l))
		e, _, err := export.Entry([]export.Line{l})
		check(t, err)
		all = append(all, *e)
	}
	now := all[len(all)-1].Time + 5
	a := newLedgerAt(t, &now, slices.Clone(all)...)
	before := a.balances(t)
	for _, e := range all {
		if r, err := a.Do(t.Context(), e); err != nil || r.Seq != e.Seq {
			t.Errorf("entry %d again: %v %v", e.Seq, r, err)
		}
	}
	if after := a.balances(t); !maps.Equal(before, after) {
		t.Errorf("balances %v, want %v", after, before)
	}
	check(t, a.Close())
	if again := audited(t, a.fs, audit.Options{Now: now}); !again.Clean() || again.Head != r.Head {
		t.Errorf("kept anew: %v, head %s, want %s", again.Findings, again.Head, r.Head)
	}
}
