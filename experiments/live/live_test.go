package live

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	bankorder "bourse/bank/order"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"
	"bourse/contracts/order"
	"bourse/contracts/policies"
	"bourse/experiments/verify"
	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/hosts/remote/remotetest"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

const file = `
name: lab
admission: {name: class, default: be}
market: {bidding: cheapest}
`

// A town is a market with its bank and its hosts in memory. Its time advances only when the
// test advances it.
type town struct {
	t       testing.TB
	conf    Config
	disk    *vfs.MemFS // file system of the market's log
	vault   *vfs.MemFS // file system of the bank's ledger
	bank    *tried
	market  *Market
	clock   Clock // nil means that the test sets the time
	now     float64
	agents  []*remotetest.Agent
	names   []string
	kill    func(at string) bool
	kills   int
	every   int64 // number of records between two checkpoints; 0 means the default
	read    int64 // number of the checkpoint from which the market last resumed
	meter   Meter
	version string
	apart   *processes // the processes of the bank and the market; nil if both are in this process
}

// Now implements [Clock].
func (w *town) Now() float64 {
	if w.clock != nil {
		return w.clock.Now()
	}
	return w.now
}

// Reach implements [Clock].
func (w *town) Reach(at float64) {
	if w.clock != nil {
		w.clock.Reach(at)
	}
}

var errKilled = errors.New("killed")

// A tried is a bank. The market may be killed before and after each call of its methods.
type tried struct {
	*store.Sequencer
	at    func(string) error
	away  atomic.Bool
	crash func(at string) bool // reports whether the bank itself is dropped and replaced by another
}

func (b *tried) Answer(ctx context.Context, id string) (e bank.Entry, ok bool, err error) {
	if b.away.Load() {
		return e, false, store.ErrClosed
	}
	return b.Sequencer.Answer(ctx, id)
}

func (b *tried) Do(ctx context.Context, e bank.Entry) (r store.Receipt, err error) {
	if b.away.Load() {
		return r, store.ErrUnknown
	}
	if err := b.at("before " + e.Kind.String()); err != nil {
		return r, err
	}
	if b.crash != nil && b.crash("before "+e.Kind.String()) {
		return r, store.ErrUnknown
	}
	if r, err = b.Sequencer.Do(ctx, e); err == nil {
		err = b.at("after " + e.Kind.String())
	}
	if b.crash != nil && b.crash("after "+e.Kind.String()) {
		return store.Receipt{}, store.ErrUnknown
	}
	return r, err
}

func newTown(t testing.TB, file string, hosts int) *town {
	w := &town{t: t, conf: must(Parse("lab.yaml", []byte(file))), disk: vfs.NewCrashableMem(), vault: vfs.NewCrashableMem(), now: 100}
	w.bank = &tried{Sequencer: found("books", w.vault, hosts), at: w.at}
	t.Cleanup(func() { w.bank.Close() })
	w.open()
	t.Cleanup(func() {
		if w.market != nil {
			w.market.Close()
		}
	})
	for h := range hosts {
		w.join(fmt.Sprintf("h%02d", h))
	}
	return w
}

// found creates a bank that allows market:lab to pay the given number of host owners.
func found(dir string, fs vfs.FS, hosts int) *store.Sequencer {
	j := must(store.Create(dir, store.Options{FS: fs}))
	s := store.NewSequencer(j, bank.New(j))
	for _, e := range ownerstest.Begin() {
		must(s.Do(context.Background(), e))
	}
	for h := range hosts {
		name := fmt.Sprintf("h%02d", h)
		right := ownerstest.Says("operator", "right", "p-"+name, "operator", "of", "host:"+name, "right", "payee", "market", "lab")
		must(s.Do(context.Background(), right))
	}
	return s
}

func (w *town) at(what string) error {
	if w.kill != nil && w.kill(what) {
		return errKilled
	}
	return nil
}

// open opens the market.
func (w *town) open() {
	w.t.Helper()
	kill := w.kill
	w.kill = nil
	m, err := Open("market", w.conf, w.world())
	if err != nil {
		w.t.Fatal(err)
	}
	w.market, w.kill = m, kill
	m.step = w.at
	m.pause = math.Inf(1)
	if w.every > 0 {
		m.every = w.every
	}
	w.read = m.saved.read
}

func (w *town) world() World {
	return World{
		Bank: w.bank, Ledger: ownerstest.Ledger, Number: ownerstest.Number, Key: ownerstest.Private("market:lab"), Clock: w, FS: w.disk,
		KeyOf: func(_ context.Context, account string) (string, error) { return ownerstest.Public(account), nil },
		Meter: w.meter, Version: w.version,
	}
}

// crash drops the market, as a kill would, and opens it again.
func (w *town) crash() {
	w.kills++
	w.disk = w.disk.CrashClone(vfs.CrashCloneCfg{})
	old := w.market
	defer old.Close()
	w.open()
}

// turn executes one step. If the market is killed during the step, turn repeats the step, like
// clients that receive no answer.
func (w *town) turn(messages ...message) []result {
	w.t.Helper()
	if w.apart != nil {
		return w.apart.turn(w.now, messages)
	}
	for {
		var letters []*letter
		for _, m := range messages {
			letters = append(letters, newLetter(m))
		}
		err := w.market.turn(w.Now(), letters)
		if errors.Is(err, errKilled) {
			w.crash()
			continue
		}
		if err == nil && w.every > 0 {
			err = w.market.finish()
		}
		if err != nil {
			w.t.Fatal(err)
		}
		var out []result
		for _, l := range letters {
			out = append(out, l.result)
		}
		return out
	}
}

func (w *town) join(name string) {
	w.t.Helper()
	spec := hosts.Spec{Name: name, CPUs: 1, Speed: 1}
	if r := w.turn(message{Join: &join{Spec: spec, Owner: "host:" + name}}); r[0].err != nil {
		w.t.Fatal(r[0].err)
	}
	w.names, w.agents = append(w.names, name), append(w.agents, remotetest.New(spec))
}

// talk lets all hosts exchange messages with the market.
func (w *town) talk() {
	w.t.Helper()
	var all []message
	for i, a := range w.agents {
		t := a.Tell(w.now)
		w.hear(w.names[i], t)
		all = append(all, message{Report: must(newReport(w.names[i], t))})
	}
	for i, r := range w.turn(all...) {
		if r.err != nil || r.superseded {
			w.t.Fatal(r.err, r.superseded)
		}
		o := w.orders(w.names[i])
		o.Known = r.known
		w.agents[i].Obey(w.now, &o)
	}
}

// hear informs the market that a host is present.
func (w *town) hear(host string, t *remote.Told) {
	if w.apart != nil {
		w.apart.heard = append(w.apart.heard, heard{host, *t})
		return
	}
	w.market.seen.hear(host, w.Now(), t)
}

// orders returns the market's current orders for a host.
func (w *town) orders(host string) remote.Orders {
	if w.apart != nil {
		o := w.apart.last.Orders[host]
		for i := range o.Wanted {
			o.Wanted[i].Work = math.Inf(1) // this field is not transmitted
		}
		return o
	}
	return w.market.seen.of(host).orders
}

// pass advances time. Every host sends one report per second.
func (w *town) pass(seconds int) {
	w.t.Helper()
	for range seconds {
		w.now++
		w.talk()
	}
}

var jobText = order.Text(&remote.Job{Command: []string{"true"}})

// order returns a signed order of a user for a job with the given terms.
func (w *town) order(id, account, class string, nodes int, work, deadline, budget float64) submission {
	w.t.Helper()
	return w.orderUntil(id, account, class, nodes, work, deadline, budget, 9000)
}

// orderUntil returns a signed order that expires at the given time.
func (w *town) orderUntil(id, account, class string, nodes int, work, deadline, budget, expires float64) submission {
	w.t.Helper()
	return w.sign(id, account, expires, &order.Terms{Class: class, Nodes: nodes, CPUs: 1, Work: work, Deadline: deadline, Budget: must(bank.Dollars(budget))}, jobText)
}

// sign returns an order for a job on these terms.
func (w *town) sign(id, account string, expires float64, terms *order.Terms, job []byte) submission {
	w.t.Helper()
	terms.Job = order.Sum(job)
	o := must(terms.Order(order.Head{Ledger: ownerstest.Ledger, Market: "lab", ID: id, Account: account, Expires: expires}))
	return submission{Order: string(must(bankorder.Sign([]byte(o.String()), ownerstest.Private(account)))), Job: string(job)}
}

func (w *town) cancel(id, account string, contract int64) string {
	o := must(order.About(order.Head{Ledger: ownerstest.Ledger, Market: "lab", ID: id, Account: account, Expires: 9000}, "cancel", contract))
	return string(must(bankorder.Sign([]byte(o.String()), ownerstest.Private(account))))
}

// bid returns a signed order that changes a budget.
func (w *town) bid(id, account string, contract int64, budget float64) string {
	o := must(order.Bid(order.Head{Ledger: ownerstest.Ledger, Market: "lab", ID: id, Account: account, Expires: 9000}, contract, must(bank.Dollars(budget))))
	return string(must(bankorder.Sign([]byte(o.String()), ownerstest.Private(account))))
}

// entries returns all entries that the bank has booked.
func (w *town) entries() (all []string) {
	w.t.Helper()
	r := must(store.OpenReader(w.books()))
	defer r.Close()
	for e := range r.Entries() {
		all = append(all, fmt.Sprintf("%v %v %d %s %v %s", e.Time, e.Kind, e.Contract, e.ID, e.Moves, e.Note))
	}
	if r.Err() != nil {
		w.t.Fatal(r.Err())
	}
	return all
}

// books returns the location of the ledger.
func (w *town) books() (string, store.Options) {
	if w.apart != nil {
		return w.apart.path("books"), store.Options{}
	}
	return "books", store.Options{FS: w.vault.CrashClone(vfs.CrashCloneCfg{})}
}

// day is a market day with contracts of two classes that share a host and end in all
// possible ways.
func (w *town) day() []string {
	w.t.Helper()
	say := func(r result) {
		if r.err != nil || r.answer == nil {
			w.t.Fatalf("%+v, %v", r, r.err)
		}
	}
	a, b, c, d := w.order("a", "user:0", "be", 1, 30, 60, 0.3), w.order("b", "user:1", "cac", 2, 10, 40, 0.2), w.order("c", "user:2", "be", 1, 500, 20, 0.1), w.order("d", "user:0", "be", 1, 10, 100, 5)
	first := w.turn(message{Submit: &a}, message{Submit: &b})
	for _, r := range first {
		say(r)
	}
	w.pass(5)
	for _, r := range w.turn(message{Submit: &c}, message{Submit: &d}) {
		say(r)
	}
	w.pass(10)
	e := w.order("e", "user:2", "be", 1, 50, 50, 0.3)
	r := w.turn(message{Submit: &e})
	say(r[0])
	w.pass(2)
	say(w.turn(message{Bid: w.bid("more", "user:0", first[0].answer.Contract, 0.35)})[0])
	for _, r := range w.turn(message{Bid: w.bid("less", "user:2", r[0].answer.Contract, 0.25)}, message{Bid: w.bid("spent", "user:0", first[0].answer.Contract, 0.000001)}, message{Bid: w.bid("again", "user:2", r[0].answer.Contract, 0.25)}) {
		say(r)
	}
	w.pass(5)
	say(w.turn(message{Cancel: w.cancel("x", "user:2", r[0].answer.Contract)})[0])
	w.pass(60)
	all := w.entries()
	if w.apart != nil {
		return append(all, w.apart.last.List...)
	}
	return append(all, listed(w.market)...)
}

// listed returns a text that describes all contracts of a market.
func listed(m *Market) (all []string) {
	for _, c := range must(m.List(Filter{Ended: true})) {
		all = append(all, fmt.Sprintf("%+v", c))
	}
	return all
}

// check checks that a new broker reproduces the log, and that an audit of the ledger and its
// notes has no findings.
func (w *town) check(calls int) *Checked {
	w.t.Helper()
	dir, opts := w.books()
	if a := must(audit.Audit(dir, audit.Options{FS: opts.FS, Follow: verify.Follow(nil)})); !a.Clean() || a.Entries < 20 {
		w.t.Errorf("%+v", a)
	}
	r := must(store.OpenReader(dir, opts))
	defer r.Close()
	at, disk := "market", vfs.FS(nil)
	if w.apart != nil {
		at = w.apart.path("market")
	} else {
		disk = w.disk.CrashClone(vfs.CrashCloneCfg{})
	}
	c, err := Check(at, disk, func(yield func(*bank.Entry) bool) {
		for e := range r.Entries() {
			if !yield(e) {
				return
			}
		}
	})
	if err != nil || len(c.Differences) > 0 || c.Calls < calls {
		w.t.Errorf("%+v, %v", c, err)
	}
	return c
}

// TestDay checks contracts of programs on remote hosts, from the order to the ledger entry:
// they are admitted, run, end and are paid for.
func TestDay(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	w.day()
	w.check(9)
	all := must(w.market.List(Filter{Ended: true}))
	var got []string
	for _, c := range all {
		got = append(got, fmt.Sprintf("%s %s %s", c.Order, c.State, c.Outcome))
		if sum := must(c.Paid.Add(c.Back)); c.State != "refused" && sum != c.Budget {
			t.Errorf("%s paid %v and got back %v of %v", c.Order, c.Paid, c.Back, c.Budget)
		}
	}
	want := []string{"a fulfilled fulfilled", "b fulfilled fulfilled", "c violated late", "d refused ", "e cancelled cancelled"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for name, want := range map[string]float64{"escrow:12884901889": 0, "host:h00": math.NaN()} {
		if has := must(w.bank.Balance(t.Context(), name)); has.Float64() != want && !(math.IsNaN(want) && has.Sign() > 0) {
			t.Errorf("%s has %v, want %v", name, has, want)
		}
	}
}

// TestKilled checks a market that is killed at any point of a step, or before or after any
// call to its bank. Afterwards it must have the same state as without the kill, and the
// bank must have booked the same bytes.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, every := range []int64{0, 5} {
		t.Run(fmt.Sprintf("checkpoint %d", every), func(t *testing.T) { testKilled(t, every) })
	}
}

func testKilled(t *testing.T, every int64) {
	want := newTown(t, file, 2).day()
	places, read := map[string]int{}, int64(0)
	for _, at := range []string{"record", "apply", "outcome", "answer", "before admit", "after admit", "before reject", "after reject", "before adjust", "after adjust", "before settle", "after settle"} {
		for nth := 1; nth <= 40; nth += 1 + nth/4 {
			w := newTown(t, file, 2)
			if w.every = every; every > 0 {
				w.market.every = every
			}
			n := 0
			w.kill = func(what string) bool {
				if what == at {
					n++
				}
				return what == at && n == nth
			}
			got := w.day()
			if w.kills == 0 {
				break
			}
			places[at] += w.kills
			read = max(read, w.read)
			w.check(9)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("killed at %s %d: %d entries, want %d: %s", at, nth, len(got), len(want), firstDifference(got, want))
			}
		}
		if places[at] == 0 {
			t.Errorf("never killed at %s", at)
		}
	}
	if t.Log(places, read); (read > 10) != (every > 0) {
		t.Errorf("gone on from record %d", read)
	}
}

// TestBankKilled checks that a bank that is killed before or after it has booked an entry,
// and is then reopened, books the same as a bank that was never killed.
func TestBankKilled(t *testing.T) {
	t.Parallel()
	want := newTown(t, file, 2).day()
	for _, at := range []string{"before admit", "after admit", "before reject", "after reject", "before settle", "after settle"} {
		w := newTown(t, file, 2)
		killed, n := 0, 0
		w.bank.crash = func(what string) bool {
			if what != at {
				return false
			}
			if n++; n%2 == 0 { // every second time
				return false
			}
			killed++
			w.vault = w.vault.CrashClone(vfs.CrashCloneCfg{})
			old := w.bank.Sequencer
			t.Cleanup(func() { old.Close() })
			w.bank.Sequencer = must(store.OpenSequencer("books", store.Options{FS: w.vault}))
			return true
		}
		if got := w.day(); killed == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("killed %s, %d times: %d entries, want %d: %s", at, killed, len(got), len(want), firstDifference(got, want))
		}
		w.check(9)
	}
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("\n%.2000s\nwant\n%.2000s", got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
		}
	}
	return ""
}

// TestPolicies checks a market under every policy that a market supports. After a kill, the
// market must have the same state as without the kill, so the checkpoints must contain the
// policy's whole state.
func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, name := range policies.Table(nil, nil).Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := fmt.Sprintf("name: lab\nadmission: %s\nmarket: {bidding: best-response, sharing: %s}\nleaving: {rule: suspend}", name, policies.Of(name).Sharing)
			if _, err := Parse("lab.yaml", []byte(file)); name == "queue" || name == "reserve" || name == "windows" || name == "bundle" {
				if err == nil {
					t.Error("it is sold")
				}
				return
			}
			run := func(every int64) []string {
				w := newTown(t, file, 2)
				w.every = every
				n := 0
				w.kill = func(string) bool {
					n++
					return every > 0 && n%23 == 0
				}
				if every > 0 {
					w.market.every = every
				}
				for i := range 8 {
					s := w.order(fmt.Sprint(i), fmt.Sprintf("user:%d", i%3), "", 1+i%2, 5, float64(10+4*i), 0.05)
					w.turn(message{Submit: &s})
					w.pass(2)
					if i == 5 {
						w.turn(message{Gone: "h01"})
						w.turn(message{Cancel: w.cancel("x", "user:2", ownerstest.Contract(3))})
					}
				}
				w.pass(50)
				w.check(8)
				if every > 0 && (w.kills < 3 || w.read == 0) {
					t.Errorf("%d kills, gone on from %d", w.kills, w.read)
				}
				return w.entries()
			}
			if want, got := run(0), run(7); !reflect.DeepEqual(got, want) {
				t.Errorf("%d entries, want %d: %s", len(got), len(want), firstDifference(got, want))
			}
		})
	}
}

// TestUnstarted checks a contract whose command cannot be started on one of its hosts. It
// must end violated, with no payment and no penalty, and the contract and the ledger must
// state the reason. If the program of a contract fails after its start, the contract is
// judged by its work.
func TestUnstarted(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	for i, fault := range []string{"command: no such file", "it has failed"} {
		s := w.order(fmt.Sprint(i), "user:0", "cac", 2, 5, 40, 0.2)
		if r := w.turn(message{Submit: &s}); r[0].answer.Verdict != "accept" {
			t.Fatalf("%+v", r[0].answer)
		}
		w.pass(3)
		id := ownerstest.Contract(int64(i + 1))
		c := must(w.market.Status(id))
		if c.Done == 0 || len(c.Tasks) != 2 {
			t.Fatalf("it does not run: %+v", c)
		}
		for n, a := range w.agents {
			word := a.Tell(w.now)
			if word.Ends = []remote.End{{Name: c.Tasks[n].Name, Why: hosts.Failed, Code: 1, Fault: fault}}; n == 0 {
				w.turn(message{Report: must(newReport(c.Tasks[n].Host, word))})
				w.crash()
				continue
			}
			if i == 1 {
				w.turn(message{Report: must(newReport(c.Tasks[n].Host, word))})
			}
		}
		w.now++
		w.turn()
		c = must(w.market.Status(id))
		if got := c.Outcome == "fault: command"; !c.Over() || got != (i == 0) || len(c.Ends) == 0 || c.Ends[0].Fault != fault {
			t.Errorf("%s: %+v", fault, c)
		}
		if i == 0 && (c.State != "violated" || c.Paid.Sign() != 0 || c.Penalty.Sign() != 0 || c.Back != c.Budget) {
			t.Errorf("%s: %s, paid %v, back %v, penalty %v", fault, c.State, c.Paid, c.Back, c.Penalty)
		}
		if i == 1 && c.State != "violated" {
			t.Errorf("%s: %s", fault, c.State)
		}
		if all := w.entries(); strings.Contains(all[len(all)-1], `"fault":"command"`) != (i == 0) {
			t.Errorf("%s: %s", fault, all[len(all)-1])
		}
	}
	w.check(4)
}

// TestDrained checks that a drained host is draining while it is present, that draining can
// be undone, and that the host is removed permanently when it has left, even if it had left
// before.
func TestDrained(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	drain := func(host string, on bool) error {
		return w.turn(message{Shut: &shutting{Host: host, Shut: on, Operator: true}})[0].err
	}
	states := func(want ...string) {
		t.Helper()
		for i, h := range w.market.Hosts() {
			if h.State != want[i] {
				t.Errorf("%s is %s, want %s", h.Name, h.State, want[i])
			}
		}
	}
	for _, on := range []bool{true, false, true} {
		if err := drain("h00", on); err != nil {
			t.Error(err)
		}
		w.pass(1)
		states(map[bool]string{true: "draining", false: "here"}[on], "here")
	}
	w.turn(message{Gone: "h00"}, message{Gone: "h01"})
	states("removed", "away")
	if err := drain("h01", true); err != nil {
		t.Error(err)
	}
	states("removed", "removed")
	w.crash()
	states("removed", "removed")
	for _, host := range []string{"h00", "h01"} {
		if err := drain(host, false); !errors.Is(err, ErrNoHost) {
			t.Errorf("undone for %s, which was removed: %v", host, err)
		}
	}
	w.check(0)
}

// TestRestored checks that a market restored from a backup refunds the escrows of contracts
// that it does not know and continues after their numbers. A market whose bank was restored
// from a backup must not open.
func TestRestored(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 1)
	before := w.disk.CrashClone(vfs.CrashCloneCfg{})
	for _, id := range []string{"a", "b"} {
		s := w.order(id, "user:0", "be", 1, 5, 20, 0.2)
		w.turn(message{Submit: &s})
	}
	has := must(w.bank.Balance(t.Context(), "user:0"))
	after := w.disk
	w.disk = before
	w.crash()
	if got := must(w.bank.Balance(t.Context(), "user:0")); got.Micros()-has.Micros() != 400_000 {
		t.Errorf("%v were given back", bank.Micros(got.Micros()-has.Micros()))
	}
	s := w.order("c", "user:0", "be", 1, 5, 20, 0.2)
	if a := w.turn(message{Submit: &s})[0].answer; a.Contract != ownerstest.Contract(3) || a.Verdict != "accept" {
		t.Errorf("%+v", a)
	}
	s = w.order("a", "user:0", "be", 1, 5, 20, 0.2)
	if a := w.turn(message{Submit: &s})[0].answer; a.Verdict != "reject" || a.Why == "" || a.kept {
		t.Errorf("an order that was used before: %+v", a)
	}
	w.check(3)
	m, err := Open("market", w.conf, World{
		Bank: w.bank, Ledger: ownerstest.Ledger, Number: ownerstest.Number, Key: ownerstest.Private("market:lab"), Clock: w, FS: after,
	})
	if err == nil {
		m.Close()
		t.Error("a market was opened whose bank holds nothing for its contracts")
	}
}

// TestCheck checks that later changes in a log or in the ledger are found.
func TestCheck(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	w.day()
	all := func(yield func(*bank.Entry) bool) {
		r := must(store.OpenReader("books", store.Options{FS: w.vault.CrashClone(vfs.CrashCloneCfg{})}))
		defer r.Close()
		for e := range r.Entries() {
			if !yield(e) {
				return
			}
		}
	}
	for name, entries := range map[string]iter.Seq[*bank.Entry]{
		"a settlement is missing": func(yield func(*bank.Entry) bool) {
			for e := range all {
				if e.Kind != bank.Settle && !yield(e) {
					return
				}
			}
		},
		"an admission is of more": func(yield func(*bank.Entry) bool) {
			for e := range all {
				if e.Kind == bank.Admit {
					e.Moves[0].Amount = bank.Micros(1)
				}
				if !yield(e) {
					return
				}
			}
		},
		"an entry is of another contract": func(yield func(*bank.Entry) bool) {
			for e := range all {
				if e.Kind == bank.Reject {
					e.Contract += 100
				}
				if !yield(e) {
					return
				}
			}
		},
	} {
		if c, err := Check("market", w.disk.CrashClone(vfs.CrashCloneCfg{}), entries); err != nil || len(c.Differences) == 0 {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	later := func(r *record) bool {
		if r.Now != 100 || len(r.Messages) == 0 || r.Messages[0].Submit == nil {
			return false
		}
		r.Now++
		return true
	}
	less := func(r *record) bool {
		for i := range r.Messages {
			if m := r.Messages[i].Report; m != nil && len(m.Spans) > 0 && len(m.Spans[0].Used) > 0 {
				m.Spans[0].Used[0].Seconds /= 2
				return true
			}
		}
		return false
	}
	for name, c := range map[string]struct {
		table    byte
		from, to string
		record   func(r *record) bool // changes the record, and reports whether the record can be changed
	}{
		"nothing":                       {outcomeTable, "", "", nil},
		"an instant is another":         {record: later},
		"a host has reported less":      {record: less},
		"a decision is another":         {outcomeTable, `"verdict":"accept"`, `"verdict":"reject"`, nil},
		"somebody was paid more":        {outcomeTable, `"amount":"0.`, `"amount":"1.`, nil},
		"a contract has come to more":   {contractTable, `"state":"fulfilled"`, `"state":"violated"`, nil},
		"what a note says was changed":  {outcomeTable, `work_done`, `work_none`, nil},
		"a bid that was placed is more": {outcomeTable, `"bid":0.`, `"bid":1.`, nil},
	} {
		disk := w.disk.CrashClone(vfs.CrashCloneCfg{})
		l := must(openLog("market", disk, false, nil))
		changed := 0
		var err error
		for n, r := range l.records(1, &err) {
			if c.record != nil && changed == 0 && c.record(r) {
				changed++
			}
			must(0, l.db.Set(key(recordTable, n), must(l.codec.encode(r)), nil))
		}
		for n, text := range l.each(c.table, 0, &err) {
			if is := strings.Replace(string(text), c.from, c.to, 1); c.from != "" && is != string(text) && changed == 0 {
				changed++
				must(0, l.db.Set(key(c.table, n), []byte(is), nil))
			}
		}
		must(0, errors.Join(err, l.db.Close()))
		if got, err := Check("market", disk, all); err != nil || (len(got.Differences) == 0 || changed == 0) != (name == "nothing") {
			t.Errorf("%s (%d): %+v, %v", name, changed, got, err)
		}
	}
	must(0, w.market.save()) // without a checkpoint, a log that lacks its last record looks like a log after a crash
	last := must(openLog("market", w.disk.CrashClone(vfs.CrashCloneCfg{}), true, nil)).seq
	for _, n := range []int64{1, 2, last / 2, last - 1, last} {
		disk := w.disk.CrashClone(vfs.CrashCloneCfg{})
		l := must(openLog("market", disk, false, nil))
		must(0, errors.Join(l.db.Delete(key(recordTable, n), nil), l.db.Close()))
		if got, err := Check("market", disk, all); err == nil || !strings.Contains(err.Error(), "want record") {
			t.Errorf("without record %d of %d: %+v, %v", n, last, got, err)
		}
	}
}

// TestManyNodes checks that a contract is admitted even if it has so many hosts that its
// note cannot list them next to the owner's order.
func TestManyNodes(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 550)
	s := w.order("a", "user:0", "be", 550, 1, 20, 0.5)
	if a := w.turn(message{Submit: &s})[0].answer; a.Verdict != "accept" || len(a.Places) != 550 {
		t.Errorf("%+v", a)
	}
}

// TestOneTry checks a contract that is started again because it lost one of its hosts. On its
// other host, its task may still be running until that host receives the order. The market must
// not start the task a second time before the host has reported its end or has had time to end
// it.
func TestOneTry(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} {
		w := newTown(t, file, 3)
		wanted := func() (all []string) {
			for _, h := range w.market.core.hosts {
				for i := range h.orders.Wanted {
					all = append(all, h.Spec.Name+" "+h.orders.Wanted[i].Folder())
				}
			}
			return all
		}
		s := w.order("a", "user:0", "be", 2, 100, 500, 0.5)
		a := w.turn(message{Submit: &s})[0].answer
		w.pass(1)
		first := wanted()
		if len(first) != 2 {
			t.Fatalf("%+v: %v", a, first)
		}
		lost, left := first[0][:3], first[1][:3]
		w.now++
		w.turn(message{Gone: lost})
		if now := wanted(); len(now) != 1 || now[0] == first[1] {
			t.Fatalf("%v, and when %s is lost %v", first, lost, now)
		}
		if w.now += 14; told {
			at := slices.Index(w.names, left)
			said := w.agents[at].Tell(w.now)
			said.Ends = append(said.Ends, remote.End{Name: 1, Why: hosts.Killed})
			w.turn(message{Report: must(newReport(left, said))})
		} else {
			if w.turn(); len(wanted()) != 1 {
				t.Errorf("after 14 s: %v", wanted())
			}
			w.now = w.market.core.due()
			for i, a := range w.agents {
				w.market.seen.hear(w.names[i], w.now, a.Tell(w.now)) // no host is silent
			}
			w.turn()
		}
		if now := wanted(); len(now) != 2 {
			t.Errorf("told %v: %v", told, now)
		}
	}
}
