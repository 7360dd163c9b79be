package live

import (
	"fmt"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/experiments/explain"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestExplain checks that every contract of a market is decided again as it was, to the
// byte, which Explain itself refuses to differ from; that with the change that it names the
// market as it was then decides otherwise, and with one step less it does not; and that
// externalities are those of two stories decided by hand.
func TestExplain(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	for i := range 14 {
		s := w.order(fmt.Sprintf("o-%d", i), fmt.Sprintf("user:%d", i%3), []string{"be", "cac", "sac"}[i%3], 1+i%2, float64(6+5*(i%4)), 20, 0.05)
		w.turn(message{Submit: &s})
		w.pass(2)
	}
	w.pass(40)
	disk := w.disk.CrashClone(vfs.CrashCloneCfg{})
	l := must(openLog("market", disk, true, nil))
	as, conf, err := l.made()
	if err != nil {
		t.Fatal(err)
	}
	past := must(l.story(as, conf))
	forks := make(map[int64]*fork)
	for i := range past.asked {
		forks[past.asked[i].id] = must(l.fork(as, &conf, past.asked[i].id))
	}
	if err := l.db.Close(); err != nil {
		t.Fatal(err)
	}
	base := must(past.decide(as, &conf))
	refused, changes, externalities := 0, 0, 0
	for i := range past.asked {
		a := &past.asked[i]
		r, err := Explain("market", disk, a.id)
		if err != nil {
			t.Errorf("contract %d: %v", a.id, err)
			continue
		}
		if r.Decision.Verdict == "reject" {
			refused++
		}
		x := &explainer{fork: forks[a.id], made: as, conf: &conf, id: a.id, story: past, at: i}
		want := explain.Wanted(verdictOf(r.Decision.Verdict))
		for k := range r.Changes {
			c := &r.Changes[k]
			if c.Of == "submit" {
				continue // it is decided on computed hosts
			}
			changes++
			ask := explain.Ask{Budget: c.Terms.Budget, Deadline: c.Terms.Deadline, Nodes: c.Terms.Nodes, Class: c.Terms.Class}
			d, err := x.decide(ask)
			if err != nil || d.Verdict != want {
				t.Errorf("contract %d: %s %s: it is %v, %v", a.id, c.Of, c.By, d, err)
			}
			if c.Of != "nodes" && c.Of != "deadline" {
				continue
			}
			sign := 1
			if c.Terms.Nodes > r.Asked.Nodes || c.Terms.Deadline > r.Asked.Deadline {
				sign = -1
			}
			if c.Of == "nodes" {
				ask.Nodes += sign
			} else {
				ask.Deadline += float64(sign)
			}
			if d, err := x.decide(ask); err != nil || d.Verdict == want {
				t.Errorf("contract %d: %s %s is not the least: %v, %v", a.id, c.Of, c.By, d, err)
			}
		}
		if r.Without == nil {
			continue
		}
		without := must(x.otherwise(nil).decide(as, &conf))
		sum := int64(0)
		for id := range base.fates {
			if id != a.id {
				sum += without.fates[id].Worth.Micros() - base.fates[id].Worth.Micros()
			}
		}
		if got := r.Without.Externality.Micros(); got != sum {
			t.Errorf("contract %d: its externality is %d, by hand %d", a.id, got, sum)
		}
		if sum > 0 {
			externalities++
		}
	}
	if refused < 2 || changes < 8 || externalities < 1 {
		t.Errorf("%d refused, %d changes, %d externalities: too few to tell", refused, changes, externalities)
	}
	if _, err := Explain("market", disk, 99); err == nil || !strings.Contains(err.Error(), "contract: found 99, want one that the market's log has") {
		t.Error(err)
	}
}

func verdictOf(s string) contracts.Verdict {
	for _, v := range []contracts.Verdict{contracts.Accept, contracts.Reject, contracts.Defer} {
		if v.String() == s {
			return v
		}
	}
	panic(s)
}
