package settlement

import (
	"fmt"
	"math"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/life"
)

// TestBills checks outcomes and bills made by hand: two nodes of 100, due at 50, for a
// budget of $3.
func TestBills(t *testing.T) {
	t.Parallel()
	half := contracts.Penalty{Rate: 0.1, Max: math.Inf(1)}
	for _, c := range []struct {
		name    string
		cause   life.Outcome
		soft    bool
		whole   bool
		end     float64
		done    [2]float64
		owed    [2]float64
		byDue   float64
		penalty contracts.Penalty
		want    string
	}{
		{"all done", life.Open, false, false, 50, [2]float64{100, 100}, [2]float64{1, 0.5}, 0, half, "fulfilled 200, pays [1.000000 0.500000], owes 0.000000"},
		{"a fast node makes up for a slow one", life.Open, false, false, 40, [2]float64{150, 50}, [2]float64{1, 1}, 0, half, "fulfilled 200, pays [1.000000 1.000000], owes 0.000000"},
		{"never more than the budget", life.Open, false, false, 50, [2]float64{100, 100}, [2]float64{2, 2}, 0, half, "fulfilled 200, pays [2.000000 1.000000], owes 0.000000"},
		{"half to even", life.Open, false, false, 50, [2]float64{100, 100}, [2]float64{0.0000015, 0.0000025}, 0, half, "fulfilled 200, pays [0.000002 0.000002], owes 0.000000"},
		{"a quarter undone at a hard deadline: 12.5 s", life.Open, false, false, 50, [2]float64{75, 75}, [2]float64{1, 1}, 0, half, "late 150, pays [1.000000 1.000000], owes 1.250000"},
		{"20 s late, soft", life.Open, true, false, 70, [2]float64{100, 100}, [2]float64{1, 1}, 130, half, "late 130, pays [1.000000 1.000000], owes 2.000000"},
		{"whole, in time", life.Open, false, true, 50, [2]float64{100, 100}, [2]float64{9, 9}, 0, half, "fulfilled 200, pays [1.500000 1.500000], owes 0.000000"},
		{"whole, 20 s late: $2 less", life.Open, true, true, 70, [2]float64{100, 100}, [2]float64{}, 130, half, "late 130, pays [0.500000 0.500000], owes 0.000000"},
		{"whole, 50 s late: $2 beyond the price", life.Open, true, true, 100, [2]float64{100, 100}, [2]float64{}, 130, half, "late 130, pays [], owes 2.000000"},
		{"whole, undone: nothing", life.Open, false, true, 50, [2]float64{75, 75}, [2]float64{}, 0, half, "late 150, pays [], owes 1.250000"},
		{"market closes: nothing", life.Unfinished, false, false, 20, [2]float64{40, 40}, [2]float64{1, 1}, 0, half, "unfinished 80, pays [], owes 0.000000"},
		{"taken back: what has accrued", life.Cancelled, false, false, 20, [2]float64{40, 40}, [2]float64{1, 0.25}, 0, half, "cancelled 80, pays [1.000000 0.250000], owes 0.000000"},
		{"killed: late by its deadline", life.Killed, false, false, 20, [2]float64{40, 40}, [2]float64{1, 0}, 0, half, "killed 80, pays [1.000000 0.000000], owes 5.000000"},
	} {
		r := contracts.Request{Work: 100, Nodes: 2, SLA: contracts.SLA{Budget: bank.Micros(3e6), Deadline: 50, Soft: c.soft, Penalty: c.penalty}}
		over := Case{Request: &r, Work: 100, End: c.end, ByDue: c.byDue, Price: r.SLA.Budget}
		for n := range 2 {
			over.Nodes = append(over.Nodes, Node{Capacity: 1, Done: c.done[n], Owed: c.owed[n]})
		}
		v := over.Judge(c.cause)
		b, err := over.Bill(c.whole, &v, nil)
		var pay []bank.Amount
		for _, p := range b.Pay {
			pay = append(pay, p.Amount)
		}
		if got := fmt.Sprintf("%v %v, pays %v, owes %v", v.Outcome, v.ByDue, pay, b.Penalty); err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}
