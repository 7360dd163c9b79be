package live

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2/vfs"
)

var followSeeds = flag.Int("follow.seeds", 4, "logs of each version that TestFollow follows")

// versions are markets that decide otherwise: what one writes is a log of another version to
// the other.
var versions = []struct {
	name, one, other string
	seed             uint64 // of the first log
}{
	{"charges", "", "market: {bidding: cheapest, payment: usage}\n", 0},
	{"verdicts", "", "admission: {name: class, default: be, cac: {guarantee: 0.999}}\n", 0},
	{"placements", "", "market: {bidding: best-response}\n", 0},
	{"places of repeats", "", "market: {bidding: best-response}\nleaving: {rule: resubmit, lost_work: charged}\n", 0},
	{"what is lost", "", "leaving: {rule: lost}\n", 0},
	{"patience", "", "link: {patience: 25}\n", 22}, // of which one was settled and not logged
	{"who waits", "admission: easy\n", "admission: edf\n", 0},
}

// said returns the file of a market with some lines of its own.
func versionFile(own string) string {
	all := "name: lab\n"
	for line := range strings.Lines(file[1:]) {
		if field, _, _ := strings.Cut(line, ":"); field != "name" && !strings.Contains(own, field+":") {
			all += line
		}
	}
	return all + own
}

// upgrade makes the log one that another version has written, whose rules are those of file.
func (w *town) upgrade(file string) {
	w.t.Helper()
	w.disk = w.disk.CrashClone(vfs.CrashCloneCfg{})
	l := must(openLog("market", w.disk, false, nil))
	var as made
	must(l.get([]byte{madeTable}, &as))
	as.Config = file
	if err := l.set(map[string]any{string(madeTable): as}); err != nil {
		w.t.Fatal(err)
	}
	if err := l.db.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.conf = must(Parse("lab.yaml", []byte(file)))
}

// crowd asks for contracts of all kinds, while hosts leave and come.
func (w *town) crowd(rng *rand.Rand, seconds int) {
	w.t.Helper()
	for range seconds {
		if rng.IntN(3) == 0 {
			account := fmt.Sprintf("user:%d", rng.IntN(3))
			work := 1 + 20*rng.Float64()
			s := w.order(fmt.Sprintf("at%v", w.now), account, []string{"be", "cac"}[rng.IntN(2)], 1+rng.IntN(2), work, work*(1+3*rng.Float64()), 0.2+rng.Float64())
			r := w.turn(message{Submit: &s})
			if a := r[0].answer; a != nil && rng.IntN(8) == 0 {
				w.turn(message{Cancel: w.cancel(fmt.Sprintf("no%v", w.now), account, a.Contract)})
			}
		}
		if rng.IntN(40) == 0 {
			h := w.names[rng.IntN(len(w.names))]
			w.turn(message{Gone: h})
			w.turn(message{Came: h})
		}
		w.pass(1)
	}
}

// runs returns what runs, by contract and node, and for whom.
func (w *town) runs() map[string]int64 {
	all := make(map[string]int64)
	for _, h := range w.market.core.hosts {
		for name, t := range h.tasks {
			all[fmt.Sprintf("%d.%d.%d on %s", t.contract, t.node, name, h.Spec.Name)] = t.contract
		}
	}
	return all
}

// TestFollow checks that a market whose log another version has written, which decides
// otherwise, is not opened unless that is followed; that then what ran runs on, who was
// refused is refused and who was let in is; that what the bank has booked is booked once; that
// it may be killed at any step of that; and that from there the log is decided as it was. It
// refuses to follow rather than let anything run twice.
func TestFollow(t *testing.T) {
	t.Parallel()
	for _, v := range versions {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			followed, differed := 0, 0
			for seed := range uint64(*followSeeds) {
				is, was := testFollow(t, v.one, v.other, v.seed+seed)
				followed += is
				differed += was
			}
			t.Logf("of %d logs %d come out otherwise, and %d of these were followed", *followSeeds, differed, followed)
			if differed > 0 && followed == 0 {
				t.Errorf("of %d logs that come out otherwise %d were followed", differed, followed)
			}
		})
	}
}

func testFollow(t *testing.T, one, other string, seed uint64) (followed, differed int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := newTown(t, versionFile(one), 3)
	w.every = []int64{0, 20}[seed%2]
	w.market.every = max(w.every, w.market.every*int64((seed+1)%2))
	w.crowd(rng, 60+rng.IntN(60))
	ran, answers := w.runs(), w.answers()
	if place := []string{"", "record", "apply", "before admit", "after admit", "before settle", "after settle", "outcome"}[rng.IntN(8)]; place != "" {
		w.kill = func(at string) bool { return at == place }
		s := w.order("last", "user:0", "be", 1, 3, 20, 0.9)
		for w.market.turn(w.now, []*letter{newLetter(message{Submit: &s})}) == nil && w.now < 2000 {
			w.now++
		}
		w.kill = nil
	}
	old := w.market
	t.Cleanup(func() {
		if old != w.market {
			old.Close()
		}
	})
	w.upgrade(versionFile(other))

	m, err := Open("market", w.conf, w.world(false))
	if err == nil {
		m.Close()
		return 0, 0
	}
	if !strings.Contains(err.Error(), "--follow") {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for kills := 0; ; kills++ { // at each call of the bank
		n := 0
		w.kill = func(string) bool { n++; return n == kills+1 }
		m, err = Open("market", w.conf, w.world(true))
		if w.kill = nil; err == nil {
			break
		}
		w.disk = w.disk.CrashClone(vfs.CrashCloneCfg{})
		if strings.Contains(err.Error(), "start the one that wrote the log") {
			return 0, 1
		}
		if !strings.Contains(err.Error(), errKilled.Error()) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if !m.Followed() {
		t.Errorf("seed %d: it says that it followed nobody", seed)
	}
	w.market = m
	m.step, m.pause = w.at, math.Inf(1)
	began := make(map[int64]bool)
	for _, c := range ran {
		began[c] = true
	}
	for is, c := range w.runs() {
		if _, did := ran[is]; !did && began[c] {
			t.Errorf("seed %d: %s, which did not", seed, is)
		}
	}
	for is, c := range ran {
		if _, does := w.runs()[is]; !does && m.core.open[c] != nil {
			t.Errorf("seed %d: %s no longer, and it is open", seed, is)
		}
	}
	for order, was := range answers {
		if is := w.answers()[order]; is != was {
			t.Errorf("seed %d: the answer to %s is %s, was %s", seed, order, is, was)
		}
	}
	w.crowd(rng, 20)
	w.crash()
	w.crowd(rng, 5)
	w.pass(150)
	for _, c := range must(w.market.List(Filter{Ended: true})) {
		escrow := must(w.bank.Balance(t.Context(), bank.EscrowName(c.ID)))
		if sum := must(c.Paid.Add(c.Back)); !c.Over() || escrow.Sign() != 0 || c.State != "refused" && c.Outcome != "" && sum != c.Budget {
			t.Errorf("seed %d: contract %d is %s, paid %v and got back %v of %v, %v is held", seed, c.ID, c.State, c.Paid, c.Back, c.Budget, escrow)
		}
	}
	if c := w.check(1); c.Followed == 0 || c.First <= c.Followed {
		t.Errorf("seed %d: checked from %d, followed to %d", seed, c.First, c.Followed)
	}
	return 1, 1
}

// answers returns what was answered for good.
func (w *town) answers() map[string]string {
	w.t.Helper()
	all := make(map[string]string)
	it := must(w.market.log.db.NewIter(nil))
	defer it.Close()
	for ok := it.SeekGE([]byte{answerTable}); ok && it.Key()[0] == answerTable; ok = it.Next() {
		all[string(it.Key()[1:])] = string(it.Value())
	}
	return all
}
