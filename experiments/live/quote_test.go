package live

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/order"
)

// TestQuoteReads checks that requests tried on the market itself get the same verdicts and
// expected charges as on a copy, for each class, bidding strategy and forecaster. Half of the
// requests hold a GPU. Neither the market nor its random state may change.
func TestQuoteReads(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, admission := range []string{"{name: class, default: be}", "adaptive", "partition", "{name: sac, promise: fulfilment}", "rac"} {
		for _, rest := range []string{"{bidding: cheapest, resources: [gpu]}", "{bidding: random, forecaster: conformal, resources: [gpu]}", "{bidding: best-response, forecaster: empirical, resources: [gpu]}"} {
			file := fmt.Sprintf("name: lab\nadmission: %s\nmarket: %s", admission, rest)
			w := newTown(t, file, 1)
			w.machine("a", "b", "c", "d")
			for i := range 12 {
				class := []string{"be", "sac", "cac"}[i%3]
				s := w.order(fmt.Sprint(i), fmt.Sprintf("user:%d", i%3), class, 1+i%2, 20, 500, 0.02)
				w.turn(message{Submit: &s})
				w.now += 7
				w.talk()
			}
			k := w.market.core
			before := k.checkpoint()
			now := w.now + 0.5
			decide, quick := k.tries(now)
			if !quick {
				t.Fatalf("%s: it is not tried on the market", file)
			}
			copied := k.copy()
			for i := range 60 {
				terms := order.Terms{Class: []string{"be", "sac", "cac"}[i%3], Nodes: 1 + i%3, CPUs: 1, Work: 10, Deadline: 50, Budget: bank.Micros(int64(3 * math.Exp(float64(i)/5)))}
				r := terms.Request()
				r.ID, r.Submit = math.MaxInt64, now
				r.Needs.Min.Counts[0] = int32(i / 3 % 2)
				got, err := decide(&r)
				want, e := copied.decide(now, &r)
				if got.verdict != want.verdict || err != nil || e != nil {
					t.Errorf("%s: %+v: %v, %v; want %v, %v", file, terms, got.verdict, err, want.verdict, e)
				}
				seen[admission+got.verdict.String()] = true
				if got.verdict != contracts.Accept || want.verdict != contracts.Accept {
					continue
				}
				charges, speed := got.expect()
				after, rate := want.expect()
				if !slices.Equal(charges, after) || speed != rate && charges != nil {
					t.Errorf("%s: %+v: expected charges %+v at speed %v, want %+v at %v", file, terms, charges, speed, after, rate)
				}
				if charges != nil {
					seen["charges"] = true
				}
			}
			// The forecaster empirical stores the prices that it sorted last.
			if !strings.Contains(rest, "empirical") && !reflect.DeepEqual(before.broker, k.checkpoint().broker) {
				t.Errorf("%s: to try changes the market", file)
			}
		}
	}
	if len(seen) < 9 || !seen["charges"] {
		t.Errorf("verdicts: %v, want both of most policies, and charges", seen)
	}
}
