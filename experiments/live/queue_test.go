package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"
	"bourse/contracts/order"
	"bourse/hosts/remote"
)

// TestQuotaGolden checks which orders a market with a quota decides, holds and refuses, and
// when it releases held orders. It compares them with the cases in the folder that
// BOURSE_GOLDEN_RESOURCES names, by default testdata. Other code computed these cases.
func TestQuotaGolden(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("BOURSE_GOLDEN_RESOURCES"), "testdata"), "quota.json"))
	if err != nil {
		t.Fatal(err)
	}
	type event struct {
		Do, State, Reason string
		ID, GPU           int
		CPUs              float64
		Started           []int64
	}
	var file struct {
		Cases []struct {
			ID    string
			Input struct {
				Limits json.RawMessage
				Events []event
			}
			Expect struct{ Events []event }
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) < 2 {
		t.Fatalf("%d cases, %v", len(file.Cases), err)
	}
	for _, c := range file.Cases {
		limits := strings.ReplaceAll(strings.Trim(string(c.Input.Limits), "{}\n "), `"`, "")
		w := newTown(t, "name: lab\nquotas: [{who: 'user:*', "+limits+"}]", 2)
		ids := make(map[int]int64)
		state := func() map[int64]string {
			all := make(map[int64]string)
			for _, k := range must(w.market.List(Filter{Ended: true})) {
				all[k.ID] = k.State
			}
			return all
		}
		for i, e := range c.Input.Events {
			was := state()
			name := fmt.Sprint(i)
			if e.Do == "submit" {
				job := order.Text(&remote.Job{Command: []string{"true"}, GPUs: e.GPU})
				s := w.sign(name, "user:0", 9000, &order.Terms{Class: "be", Nodes: 1, CPUs: cmp.Or(e.CPUs, 1), Work: 500, Deadline: 1000, Budget: bank.Micros(50_000)}, job)
				ids[e.ID] = w.turn(message{Submit: &s})[0].answer.Contract
			} else {
				w.turn(message{Cancel: w.cancel(name, "user:0", ids[e.ID])})
			}
			if i%2 == 1 {
				w.crash()
			}
			is, want := state(), c.Expect.Events[i]
			var started []int64
			for id, n := range ids {
				if is[n] == "running" && was[n] != "running" {
					started = append(started, int64(id))
				}
			}
			got := is[ids[e.ID]]
			if e.Do == "end" && got == "cancelled" {
				got = "ended"
			}
			if got != want.State || !slices.Equal(started, want.Started) {
				t.Errorf("%s, event %d: %s, started %v, want %s, %v", c.ID, i, got, started, want.State, want.Started)
			}
			if k := must(w.market.Status(ids[e.ID])); want.Reason != "" && !strings.Contains(string(k.Decision), `"reason":"`+want.Reason+`"`) {
				t.Errorf("%s, event %d: %s, want %s", c.ID, i, k.Decision, want.Reason)
			}
		}
	}
}

// TestRequeue checks that the market starts a node again, with the same bid, deadline and
// budget, while its program ends with status 75 and attempts are left. The work of all attempts
// is added up. Another status ends the node. The results must be the same after a kill and in a
// replay of the log.
func TestRequeue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		requeue int
		again   int32 // number of attempts that end with status 75
		state   string
		tries   int
		cause   string
	}{{0, 9, "violated", 1, "program"}, {2, 2, "fulfilled", 3, ""}, {2, 9, "violated", 3, "program"}, {5, 0, "fulfilled", 1, ""}} {
		w := newTown(t, "name: lab", 1)
		first := ownerstest.Contract(1)
		a := w.agents[0]
		a.Exits = func(int64) float64 { return 5 }
		a.Retries = func(_ int64, try int32) bool { return try <= c.again }
		terms := &order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 30, Deadline: 60, Budget: bank.Micros(20_000), Requeue: c.requeue}
		s := w.sign("one", "user:0", 9000, terms, jobText)
		w.turn(message{Submit: &s})
		for range 24 {
			w.pass(1)
			if n := w.now; int(n)%7 == 0 {
				w.crash()
			}
		}
		k := must(w.market.Status(first))
		if k.State != c.state || len(k.Tasks) != c.tries || len(k.Ends) != c.tries || k.Served.Cause != c.cause {
			t.Errorf("%d tries more, %d asked for: %s after %d tries and %d ends, %+v", c.requeue, c.again, k.State, len(k.Tasks), len(k.Ends), k.Served)
		}
		if want := 5 * float64(c.tries); k.Done < want-0.2 || k.Done > want+0.2 || k.Served.Received < want-0.2 {
			t.Errorf("%d tries more, %d asked for: done %v, received %v, want %v", c.requeue, c.again, k.Done, k.Served.Received, want)
		}
		w.check(1)
	}
}

// TestSaves checks that a node whose host is lost keeps the work before its last checkpoint,
// and that its next attempt gets the parts of that checkpoint. Only the host of the task can
// store a checkpoint, up to a limit. The results must be the same after kills and in a replay
// of the log.
func TestSaves(t *testing.T) {
	t.Parallel()
	for _, used := range []float64{0, 6} {
		w := newTown(t, "name: lab\nlimits: {checkpoint: 1000}", 2)
		w.every, w.market.every = 1, 1
		first := ownerstest.Contract(1)
		terms := &order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 30, Deadline: 100, Budget: bank.Micros(20_000), Checkpoint: 5}
		s := w.sign("one", "user:0", 9000, terms, jobText)
		w.turn(message{Submit: &s})
		for range 10 {
			w.pass(1)
		}
		k := must(w.market.Status(first))
		host, other, sum := k.Tasks[0].Host, "h01", strings.Repeat("a", 64)
		if host == other {
			other = "h00"
		}
		for _, wrong := range []saving{{other, k.Tasks[0].Name, nil, 0}, {host, 9, nil, 0}, {"h09", 1, nil, 0}} {
			if r := w.turn(message{Saved: &wrong}); r[0].err == nil {
				t.Errorf("%+v is stored", wrong)
			}
		}
		if err := w.market.Save(t.Context(), host, &remote.Checkpoint{Name: k.Tasks[0].Name}, 1001); err == nil {
			t.Error("a checkpoint above the limit is stored")
		}
		if used > 0 {
			if r := w.turn(message{Saved: &saving{host, k.Tasks[0].Name, []string{sum}, used}}); r[0].err != nil {
				t.Error(r[0].err)
			}
		}
		w.crash()
		if got := w.market.Wanted()[sum]; got != (used > 0) {
			t.Errorf("its part is stored: %v", got)
		}
		was := must(w.market.Status(first)).Done
		w.turn(message{Gone: host})
		w.crash()
		w.turn()
		k = must(w.market.Status(first))
		if len(k.Tasks) != 2 || k.Tasks[1].Host != other || k.Done < used-0.1 || k.Done > used+0.1 || was < 8 {
			t.Errorf("after a loss at %v: %+v, %v done, want %v", was, k.Tasks, k.Done, used)
		}
		o := w.orders(other)
		if got := o.Wanted[len(o.Wanted)-1]; got.Try != 2 || got.Checkpoint != 5 || got.Most != 1000 || (used > 0) != slices.Equal(got.Saved, []string{sum}) {
			t.Errorf("the second try: %+v", got)
		}
		for range 100 {
			w.pass(1)
		}
		if k = must(w.market.Status(first)); k.Losses != 1 || k.State != "fulfilled" || k.Done < was+80+used || k.Done > was+81+used {
			t.Errorf("%s with %v done of %v and %d losses", k.State, k.Done, was+80+used, k.Losses)
		}
		w.check(1)
	}
}

// TestQuotaOrder checks that the held orders of an account are released in the order of their
// numbers. An order that fits the quota waits for earlier ones, even if another contract ends.
// Other accounts do not wait.
func TestQuotaOrder(t *testing.T) {
	t.Parallel()
	w := newTown(t, "name: lab\nquotas: [{who: 'user:*', cpus: 3}]", 4)
	submit := func(name, account string, cpus float64) int64 {
		s := w.sign(name, account, 9000, &order.Terms{Class: "be", Nodes: 1, CPUs: cpus, Work: 500, Deadline: 1000, Budget: bank.Micros(50_000)}, jobText)
		return w.turn(message{Submit: &s})[0].answer.Contract
	}
	var ids []int64
	stand := func(when string, want ...string) {
		t.Helper()
		var got []string
		for _, id := range ids {
			k := must(w.market.Status(id))
			got = append(got, strings.TrimSpace(k.State+" "+k.Held))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
		w.crash()
	}
	end := func(name, account string, id int64) { w.turn(message{Cancel: w.cancel(name, account, id)}) }
	for i, cpus := range []float64{2, 2, 1, 1, 3} {
		ids = append(ids, submit(fmt.Sprint("o", i), "user:0", cpus))
	}
	stand("submitted", "running", "held quota", "held quota", "held quota", "held quota")
	other := submit("other", "user:1", 3)
	if k := must(w.market.Status(other)); k.State != "running" {
		t.Errorf("another account's: %s", k.State)
	}
	end("e1", "user:1", other) // the market examines the held orders
	stand("another account's has ended", "running", "held quota", "held quota", "held quota", "held quota")
	end("e2", "user:0", ids[0])
	stand("the first has ended", "cancelled", "running", "running", "held quota", "held quota")
	end("e3", "user:0", ids[1])
	stand("the second has ended", "cancelled", "cancelled", "running", "running", "held quota")
	ids = append(ids, submit("last", "user:0", 1)) // this order fits the quota
	end("e4", "user:0", ids[3])
	stand("the fourth has ended", "cancelled", "cancelled", "running", "cancelled", "held quota", "held quota")
	end("e5", "user:0", ids[4]) // cancelled while it is held
	stand("the fifth was taken back", "cancelled", "cancelled", "running", "cancelled", "cancelled", "running")
	w.check(0)
}

// TestHeld checks that orders wait for contracts and for other orders of their array. An order
// is refused if the contract for which it waits ends in a state that can never release it, if
// it expires, or if it is cancelled while it is held. The results must be the same after kills
// and in a replay of the log, and an audit of the ledger must have no findings.
func TestHeld(t *testing.T) {
	t.Parallel()
	for _, every := range []int64{0, 1, 5} {
		w := newTown(t, "name: lab", 2)
		n := 0
		w.kill = func(string) bool {
			n++
			return every > 0 && n%11 == 0
		}
		w.every, w.market.every = every, max(every, w.market.every*(1-min(every, 1)))
		first := ownerstest.Contract(1)
		submit := func(account string, expires float64, change func(*order.Terms)) *Answer {
			n := len(must(w.market.List(Filter{Ended: true})))
			terms := &order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 5, Deadline: 40, Budget: bank.Micros(20_000)}
			change(terms)
			s := w.sign(fmt.Sprint("o", n), account, expires, terms, jobText)
			return w.turn(message{Submit: &s})[0].answer
		}
		after := func(on order.Condition, ids ...int64) func(*order.Terms) {
			return func(t *order.Terms) { t.After[on] = ids }
		}
		check := func(a *Answer, verdict, reason string) {
			t.Helper()
			if a.Verdict != verdict || a.Reason != reason {
				t.Errorf("%d: %s, %s, want %s, %s", Short(a.Contract), a.Verdict, a.Reason, verdict, reason)
			}
		}
		state := func(n int64) string {
			k := must(w.market.Status(n))
			return strings.TrimSpace(k.State + " " + k.Held)
		}
		stand := func(when string, want ...string) {
			t.Helper()
			for i, s := range want {
				if got := state(int64(i + 1)); got != s {
					t.Errorf("checkpoints every %d, %s: contract %d is %s, want %s", every, when, i+1, got, s)
				}
			}
		}
		w.agents[0].Exits = func(contract int64) float64 { return map[int64]float64{first + 1: -3, first + 17: 1e6}[contract] + 5 }
		w.agents[1].Exits = w.agents[0].Exits
		w.agents[0].Fails = func(contract int64) bool { return contract == first+1 }
		w.agents[1].Fails = w.agents[0].Fails
		plain := func(*order.Terms) {}
		check(submit("user:0", 9000, plain), "accept", "")
		check(submit("user:0", 9000, plain), "accept", "") // contract 2 will fail
		check(submit("user:0", 9000, after(order.Fulfilled, 1)), "held", "after 1")
		check(submit("user:0", 9000, after(order.Fulfilled, 1, 2)), "held", "after 1")
		check(submit("user:0", 9000, after(order.Failed, 2)), "held", "after 2")
		check(submit("user:0", 9000, after(order.Failed, 1)), "held", "after 1")
		check(submit("user:0", 9000, after(order.Ended, 3, 2)), "held", "after 3")
		check(submit("user:0", 9000, after(order.Fulfilled, 4)), "held", "after 4")
		check(submit("user:1", 9000, after(order.Ended, 1)), "reject", "1 is not a contract of user:1")
		check(submit("user:0", 9000, after(order.Ended, 99)), "reject", "99 is not a contract of user:0")
		check(submit("user:0", w.now+1, func(t *order.Terms) { t.After[order.Ended], t.Deadline = []int64{3}, 400 }), "held", "after 3")
		array := func(i, most int) func(*order.Terms) {
			return func(t *order.Terms) { t.Array = order.Array{ID: "A", Index: i, Most: most} }
		}
		check(submit("user:1", 9000, array(0, 2)), "accept", "")
		check(submit("user:1", 9000, array(1, 2)), "accept", "")
		check(submit("user:1", 9000, array(2, 2)), "held", "throttle")
		check(submit("user:1", 9000, array(3, 2)), "held", "throttle")
		check(submit("user:0", 9000, array(3, 1)), "accept", "") // an array of another account
		stand("before", "running", "running", "held after 1", "held after 1", "held after 2", "held after 1", "held after 3", "held after 4")
		if r := w.turn(message{Cancel: w.cancel("c", "user:1", 15)}); r[0].err != nil || r[0].answer.Verdict != "cancelled" {
			t.Errorf("%+v", r[0])
		}
		w.pass(60)
		stand("after a minute", "fulfilled", "violated", "fulfilled", "refused", "fulfilled", "refused", "fulfilled", "refused", "refused", "refused", "fulfilled",
			"fulfilled", "fulfilled", "fulfilled", "cancelled", "fulfilled")
		check(submit("user:0", 9000, after(order.Fulfilled, 2)), "reject", "2 was not fulfilled")
		check(submit("user:0", 9000, func(t *order.Terms) { t.After[order.Fulfilled], t.Work, t.Deadline = []int64{1}, 500, 900 }), "accept", "")
		check(submit("user:0", w.now+1, after(order.Ended, 18)), "held", "after 18")
		w.pass(slack - 5)
		stand("before it expires", "fulfilled", "violated")
		if got := state(19); got != "held after 18" {
			t.Errorf("within the bank's slack: %s", got)
		}
		w.pass(10)
		for id, why := range map[int64]string{4: "2 was not fulfilled", 6: "1 was fulfilled", 8: "4 was not fulfilled", 19: lapsed} {
			if k := must(w.market.Status(id)); k.State != "refused" || !strings.Contains(string(k.Decision), why) {
				t.Errorf("%d: %s, %s, want %s", id, k.State, k.Decision, why)
			}
		}
		if k := must(w.market.Status(14)); k.Submitted <= 101 || k.Tasks == nil {
			t.Errorf("%+v, want one that was released later", k)
		}
		w.check(0)
		if every > 0 && w.kills == 0 {
			t.Error("nobody was killed")
		}
	}
}
