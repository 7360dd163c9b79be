package live

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/bank"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote"
)

// machine replaces the hosts of w with one host of 8 processors, 8 GB and 4 GPUs per name.
func (w *town) machine(names ...string) {
	w.turn(message{Remove: "h00"})
	w.names, w.agents = nil, nil
	for _, name := range names {
		spec := hosts.Spec{Name: name, CPUs: 8, Speed: 1, Room: hosts.Resources{Memory: 8e9}}
		spec.Room.Counts[0] = 4
		w.provide(spec)
	}
}

// asks submits an order with the given terms and returns the number of its contract.
func (w *town) asks(id string, t *order.Terms) int64 {
	s := w.sign(id, "user:0", 9000, t, jobText)
	s.Memory = w.conf.amountsOf(t, remote.Limits{}).Memory
	return w.turn(message{Submit: &s})[0].answer.Contract
}

// byResource returns the amounts of charges, the sum of the amounts and the sum of the rates.
func byResource(all []Charge) (amounts map[string]bank.Amount, sum bank.Amount, rate float64) {
	amounts = map[string]bank.Amount{}
	for _, c := range all {
		amounts[c.Resource] = c.Amount
		sum, rate = must(sum.Add(c.Amount)), rate+c.Rate
	}
	return amounts, sum, rate
}

// TestChargesByResource checks charges that are computed by hand. Contract a holds 2 of 4 GPUs
// and half of the processors, and bids $0.001/s. Contract b holds 1 GPU and bids $0.003/s.
// While both run, a pays for its GPUs: its fraction, 1/2, times the bid of b, but at most its
// own bid. Without b, it pays the floor prices of 4 processors, $0.0001/s each, and of 2 GPUs,
// $0.0002/s each: half for each resource.
func TestChargesByResource(t *testing.T) {
	t.Parallel()
	w := newTown(t, "name: lab\nadmission: be\nmarket: {resources: [gpu]}\nfloor_per_hour: {cpu: 0.36, gpu: 0.72}", 1)
	w.machine("a")
	w.agents[0].Exits = func(c int64) float64 { return map[int64]float64{1: 1000, 2: 40}[c&0xff] }
	a := w.asks("a", &order.Terms{Class: "be", Nodes: 1, CPUs: 4, Work: 400, Deadline: 100, Budget: bank.Micros(100_000), Counts: map[string]int32{"gpu": 2}})
	w.pass(20)
	alone := must(w.market.Status(a))
	if _, sum, rate := byResource(alone.Charges); math.Abs(rate-0.0008) > 1e-12 || sum.Micros() < 14_000 || sum.Micros() > 16_000 || alone.Charges[0].Amount != alone.Charges[1].Amount {
		t.Errorf("alone: %+v, want $0.0008/s, half for each resource", alone.Charges)
	}
	terms := order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 10, Deadline: 100, Budget: bank.Micros(300_000), Counts: map[string]int32{"gpu": 1}}
	// The claims of b are 1/8 of the processors and 1/4 of the GPUs. Contract b pays 1/4 of the
	// bid of a, but at least the floor prices of 1 processor and 1 GPU, in the ratio 1 to 2.
	got := ""
	_, quoted, _, err := w.market.Quote(t.Context(), terms)
	for _, c := range quoted {
		got += fmt.Sprintf("%s %.4g %v; ", c.Resource, c.Rate, c.Amount)
	}
	if got != "cpu 0.0001 0.001000; gpu 0.0002 0.002000; " || err != nil {
		t.Errorf("expected charges: %s, %v", got, err)
	}
	b := w.asks("b", &terms)
	w.pass(20)
	both := must(w.market.Status(a))
	amounts, sum, rate := byResource(both.Charges)
	if cpu := amounts["cpu"].Micros() - alone.Charges[0].Amount.Micros(); cpu > 2*400 || amounts["gpu"].Micros()-alone.Charges[1].Amount.Micros() < 17_000 || math.Abs(rate-0.001) > 1e-12 {
		t.Errorf("with another contract: %+v, after %+v", both.Charges, alone.Charges)
	}
	if owed := must(bank.Nearest(both.Places[0].Owed)); owed != sum {
		t.Errorf("charges sum to %v, want %v", sum, owed)
	}
	w.pass(200)
	for _, id := range []int64{a, b} {
		c := must(w.market.Status(id))
		if _, sum, rate := byResource(c.Charges); !c.Over() || sum != c.Paid || sum.Sign() == 0 || rate != 0 {
			t.Errorf("%s contract %d: charges %+v sum to %v at %v, want %v", c.State, id, c.Charges, sum, rate, c.Paid)
		}
	}
}

// TestChargesSum checks that charges by resource add up to the total, while contracts run and
// at the end. It tests each payment rule, with and without floor prices, with lost hosts, with
// charges for lost work that are dropped or remain, and with a withheld penalty. A contract
// that uses only processors has no charges by resource, and its record has no such field.
// Every third contract has the lowest budget that was quoted, and its charges begin at the
// quoted rates.
func TestChargesSum(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 0))
		file := fmt.Sprintf("name: lab\nadmission: be\nmarket: {resources: [memory, gpu], payment: %s}\nleaving: {rule: %s, lost_work: %s}\npromises: {be: {penalty: 1, most: 1}}",
			[]string{"spot", "usage", "admission", "bid", "scarce", "resource"}[seed%6], []string{"resubmit", "lost"}[rng.IntN(2)], []string{"free", "charged"}[rng.IntN(2)])
		if seed%2 == 0 {
			file += "\nfloor_per_hour: {cpu: 0.04, memory: 0.005, gpu: 0.2}"
		}
		w := newTown(t, file, 1)
		w.machine("a", "b", "c")
		for n := range w.agents {
			w.agents[n].Exits = func(c int64) float64 { return float64(20 + 13*(c%5)) }
		}
		var ids []int64
		for i := range 16 {
			terms := &order.Terms{Class: "be", Nodes: 1 + rng.IntN(2), CPUs: float64(1 + rng.IntN(4)), Work: 60, Deadline: 90, Budget: bank.Micros(int64(40_000 + rng.IntN(90_000)))}
			if rng.IntN(4) > 0 {
				terms.Counts = map[string]int32{"gpu": int32(1 + rng.IntN(2))}
			}
			if seed%3 > 0 {
				terms.Memory = int64(1+rng.IntN(3)) * 1e9
			}
			var quoted []Charge
			if i%3 == 0 && terms.Memory > 0 {
				least, charges, ok, err := w.market.Quote(t.Context(), *terms)
				if err != nil {
					t.Fatalf("seed %d: order %d: %v", seed, i, err)
				}
				if ok && least.Cmp(terms.Budget) <= 0 { // the account can pay it
					terms.Budget, quoted = least, charges
				}
			}
			s := w.sign(fmt.Sprint(i), "user:0", 9000, terms, jobText)
			s.Memory = max(1, float64(terms.Memory))
			ids = append(ids, w.turn(message{Submit: &s})[0].answer.Contract)
			if quoted != nil {
				now := must(w.market.Status(ids[i])).Charges
				if !slices.EqualFunc(quoted, now, func(a, b Charge) bool { return a.Resource == b.Resource && a.Rate == b.Rate }) {
					t.Errorf("seed %d: order %d: quoted charges %+v, charges at the start %+v", seed, i, quoted, now)
				}
				seen["quoted"]++
			}
			w.pass(7)
			if i == 9 {
				w.turn(message{Gone: "b"})
			}
			for _, c := range must(w.market.List(Filter{})) { // the contract may owe a lost host for work that is no longer listed
				owed := 0.0
				for _, p := range c.Places {
					owed += p.Owed
				}
				_, sum, _ := byResource(c.Charges)
				if seen["open"]++; i < 9 && len(c.Places) == c.Nodes && c.Charges != nil && sum != must(bank.Nearest(min(owed, c.Budget.Float64()))) {
					t.Errorf("seed %d: contract %d: charges %+v, want a sum of %v", seed, c.ID, c.Charges, owed)
				}
			}
		}
		w.pass(200)
		for _, id := range ids {
			c := must(w.market.Status(id))
			amounts, sum, _ := byResource(c.Charges)
			switch {
			case !c.Over():
				t.Errorf("seed %d: contract %d is %s", seed, id, c.State)
			case c.Charges == nil:
				seen["none"]++
			case sum != c.Charged():
				t.Errorf("seed %d: contract %d: charges %+v, want a sum of %v", seed, id, c.Charges, c.Charged())
			}
			for name := range maps.Keys(amounts) {
				if amounts[name].Sign() > 0 {
					seen[name]++
				}
			}
			if c.Withheld.Sign() > 0 {
				seen["withheld"]++
			}
		}
	}
	for _, name := range []string{"open", "none", "cpu", "memory", "gpu", "withheld", "quoted"} {
		if seen[name] == 0 {
			t.Errorf("%s was never seen: %v", name, seen)
		}
	}
	t.Log(seen)
}
