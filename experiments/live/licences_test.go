package live

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/order"
)

// TestLicences checks licences of a live market with results computed by hand. There are two
// licences, which cost at least $0.36 an hour each, or $0.0001/s. Contracts a and b hold one
// each on different hosts. Contract c is refused, and the answer states how many licences are
// free. When a or b ends, contract d gets its licence. A contract with one licence pays the
// floor price for 20 s, as a charge for licences.
func TestLicences(t *testing.T) {
	t.Parallel()
	w := newTown(t, "name: lab\nadmission: be\nmarket: {licences: {matlab: 2}}\nfloor_per_hour: {matlab: 0.36}", 2)
	w.agents[0].Exits = func(int64) float64 { return 20 }
	w.agents[1].Exits = func(int64) float64 { return 1000 }
	ask := func(id string, name string, n int32) *Answer {
		terms := &order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 20, Deadline: 100, Budget: bank.Micros(100_000), Licences: map[string]int32{name: n}}
		s := w.sign(id, "user:0", 9000, terms, jobText)
		return w.turn(message{Submit: &s})[0].answer
	}
	a := ask("a", "matlab", 1)
	b := ask("b", "matlab", 1)
	if c := ask("c", "matlab", 1); a.Verdict != "accept" || b.Verdict != "accept" || c.Reason != "no licence" || fmt.Sprint(c.Left) != "map[matlab:0]" {
		t.Errorf("%s, %s, %s %s, left %v; want two accepted, and no licence left", a.Verdict, b.Verdict, c.Verdict, c.Reason, c.Left)
	}
	if got := fmt.Sprint(w.market.Licences()); got != "[{matlab 2 2}]" {
		t.Errorf("licences %s, want 2 of 2 held", got)
	}
	if x := ask("x", "ansys", 1); x.Reason != "no licence" {
		t.Errorf("an unknown licence: %s %s", x.Verdict, x.Reason)
	}
	terms := order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 20, Deadline: 100, Job: order.Sum(jobText), Licences: map[string]int32{"matlab": 1}}
	if _, _, ok, err := w.market.Quote(t.Context(), terms); ok || err != nil {
		t.Errorf("a quote without a free licence: %v, %v", ok, err)
	}
	w.pass(40)
	ended := must(w.market.Status(a.Contract))
	if !ended.Over() { // the contract runs on the other host
		ended = must(w.market.Status(b.Contract))
	}
	if _, sum, _ := byResource(ended.Charges); ended.State != "fulfilled" || ended.Paid != bank.Micros(2000) || sum != ended.Paid || ended.Charges[1].Resource != "licences" {
		t.Errorf("%s, paid %v, charges %+v; want fulfilled, $0.002000 for licences", ended.State, ended.Paid, ended.Charges)
	}
	if _, _, ok, err := w.market.Quote(t.Context(), terms); !ok || err != nil {
		t.Errorf("a quote with a free licence: %v, %v", ok, err)
	}
	if d := ask("d", "matlab", 1); d.Verdict != "accept" {
		t.Errorf("after an end: %s %s", d.Verdict, d.Reason)
	}
	w.check(-1)
}

// TestLicencesNeverOversold sends random orders with licences to a market whose hosts are lost
// and return. At no time may open contracts hold more units than exist. A replay of the log
// must give the same results.
func TestLicencesNeverOversold(t *testing.T) {
	t.Parallel()
	refused, held := 0, 0
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := newTown(t, fmt.Sprintf("name: lab\nadmission: %s\nmarket: {licences: {matlab: 3, ansys: 5}}", []string{"be", "{name: class, default: be}", "fcfs", "sac"}[seed%4]), 4)
		for n := range w.agents {
			w.agents[n].Exits = func(c int64) float64 { return float64(5 + 7*(c%6)) }
		}
		for i := range 50 {
			terms := &order.Terms{Class: []string{"be", "sac", "cac"}[rng.IntN(3)], Nodes: 1 + rng.IntN(2), CPUs: 1, Work: 30, Deadline: 60, Budget: bank.Micros(int64(20_000 + rng.IntN(90_000)))}
			if rng.IntN(4) > 0 {
				terms.Licences = map[string]int32{"matlab": int32(1 + rng.IntN(2)), "ansys": int32(1 + rng.IntN(3))}
			}
			s := w.sign(fmt.Sprint(i), fmt.Sprintf("user:%d", i%3), 9000, terms, jobText)
			if a := w.turn(message{Submit: &s})[0].answer; a.Reason == "no licence" {
				refused++
			}
			switch rng.IntN(9) {
			case 0:
				w.turn(message{Gone: w.names[rng.IntN(4)]})
			case 1:
				w.crash()
			}
			w.pass(4)
			sum := map[string]int32{}
			for _, c := range must(w.market.List(Filter{})) {
				for name, n := range c.Licences {
					if phase, open := w.market.core.broker.Phase(contracts.ID(c.ID)); open && phase != contracts.Asked {
						sum[name] += n
						held++
					}
				}
			}
			for _, l := range w.market.Licences() {
				if l.Held > l.Units || l.Held < 0 || sum[l.Name] != l.Held {
					t.Fatalf("seed %d: %+v, and contracts hold %d", seed, l, sum[l.Name])
				}
			}
		}
		w.check(-1)
	}
	if refused < 20 || held < 20 {
		t.Errorf("%d orders refused for lack of licences, %d held, want more of both", refused, held)
	}
}
