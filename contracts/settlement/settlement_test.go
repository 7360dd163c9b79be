package settlement

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
)

// TestGangs checks outcomes and bills of three nodes of 100 in two gangs, due at 50, for a
// price of $1. All nodes are paid equally, within a micro-dollar, and each gang has its own
// work.
func TestGangs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cause contracts.Outcome
		end   float64
		done  [2]float64
		price int64
		rate  float64 // penalty rate, $/s
		want  string
	}{
		{contracts.Open, 50, [2]float64{200, 100}, 1e6, 0, "fulfilled 300, pays [0.666667 0.333333], owes 0.000000"},
		{contracts.Open, 50, [2]float64{200, 100}, 5, 0, "fulfilled 300, pays [0.000003 0.000002], owes 0.000000"},
		{contracts.Open, 60, [2]float64{200, 100}, 1e6, 0.04, "late 260, pays [0.400000 0.200000], owes 0.000000"},
		{contracts.Open, 60, [2]float64{200, 100}, 1e6, 0.4, "late 260, pays [], owes 3.000000"},
		{contracts.Open, 50, [2]float64{190, 100}, 1e6, 0, "late 290, pays [], owes 0.000000"},
		{contracts.Killed, 40, [2]float64{200, 90}, 1e6, 0.1, "killed 290, pays [], owes 5.000000"},
		{contracts.Cancelled, 40, [2]float64{200, 90}, 9e4, 0.1, "cancelled 290, pays [0.060000 0.030000], owes 0.000000"},
		{contracts.Unfinished, 40, [2]float64{200, 90}, 1e6, 0.1, "unfinished 290, pays [], owes 0.000000"},
	} {
		r := contracts.Request{Work: 100, Nodes: 3, Parts: 2, PerHost: true, SLA: contracts.SLA{
			Budget: bank.Micros(1e6), Deadline: 50, RunsOn: true, Penalty: contracts.Penalty{Rate: c.rate, Max: math.Inf(1)},
		}}
		over := Case{Request: &r, Work: 100, End: c.end, ByDue: 260, Price: bank.Micros(c.price), Hosts: []Host{{Capacity: 2}}}
		for n := range 2 {
			over.Nodes = append(over.Nodes, contracts.Placement{Nodes: r.Gang(n), Done: c.done[n]})
		}
		v := over.Judge(c.cause)
		b, err := over.Bill(true, &v, nil)
		var pay []bank.Amount
		for _, p := range b.Pay {
			pay = append(pay, p.Amount)
		}
		if got := fmt.Sprintf("%v %v, pays %v, owes %v", v.Outcome, v.ByDue, pay, b.Penalty); err != nil || got != c.want {
			t.Errorf("%v of %d: %s, %v, want %s", c.done, c.price, got, err, c.want)
		}
	}
}

// TestBills checks outcomes and bills computed by hand for two nodes of 100, due at 50, with a
// budget of $3.
func TestBills(t *testing.T) {
	t.Parallel()
	half := contracts.Penalty{Rate: 0.1, Max: math.Inf(1)}
	for _, c := range []struct {
		name    string
		cause   contracts.Outcome
		soft    bool
		whole   bool
		end     float64
		done    [2]float64
		owed    [2]float64
		byDue   float64
		penalty contracts.Penalty
		want    string
	}{
		{"all done", contracts.Open, false, false, 50, [2]float64{100, 100}, [2]float64{1, 0.5}, 0, half, "fulfilled 200, pays [1.000000 0.500000], owes 0.000000"},
		{"a fast node makes up for a slow one", contracts.Open, false, false, 40, [2]float64{150, 50}, [2]float64{1, 1}, 0, half, "fulfilled 200, pays [1.000000 1.000000], owes 0.000000"},
		{"never more than the budget, in proportion", contracts.Open, false, false, 50, [2]float64{100, 100}, [2]float64{4, 2}, 0, half, "fulfilled 200, pays [2.000000 1.000000], owes 0.000000"},
		{"the sum is rounded, half to even", contracts.Open, false, false, 50, [2]float64{100, 100}, [2]float64{0.00000125, 0.00000125}, 0, half, "fulfilled 200, pays [0.000001 0.000001], owes 0.000000"},
		{"the largest remainder is rounded up", contracts.Open, false, false, 50, [2]float64{100, 100}, [2]float64{0.0000013, 0.0000026}, 0, half, "fulfilled 200, pays [0.000001 0.000003], owes 0.000000"},
		{"a quarter undone at a hard deadline: 12.5 s", contracts.Open, false, false, 50, [2]float64{75, 75}, [2]float64{1, 1}, 0, half, "late 150, pays [1.000000 1.000000], owes 1.250000"},
		{"20 s late, soft", contracts.Open, true, false, 70, [2]float64{100, 100}, [2]float64{1, 1}, 130, half, "late 130, pays [1.000000 1.000000], owes 2.000000"},
		{"whole, in time", contracts.Open, false, true, 50, [2]float64{100, 100}, [2]float64{9, 9}, 0, half, "fulfilled 200, pays [1.500000 1.500000], owes 0.000000"},
		{"whole, 20 s late: $2 less", contracts.Open, true, true, 70, [2]float64{100, 100}, [2]float64{}, 130, half, "late 130, pays [0.500000 0.500000], owes 0.000000"},
		{"whole, 50 s late: $2 beyond the price", contracts.Open, true, true, 100, [2]float64{100, 100}, [2]float64{}, 130, half, "late 130, pays [], owes 2.000000"},
		{"whole, undone: nothing", contracts.Open, false, true, 50, [2]float64{75, 75}, [2]float64{}, 0, half, "late 150, pays [], owes 1.250000"},
		{"whole, 35 s late: just the price", contracts.Open, true, true, 85, [2]float64{100, 100}, [2]float64{}, 130, contracts.Penalty{Rate: 3. / 35, Max: 3}, "late 130, pays [], owes 0.000000"},
		{"market closes: nothing", contracts.Unfinished, false, false, 20, [2]float64{40, 40}, [2]float64{1, 1}, 0, half, "unfinished 80, pays [], owes 0.000000"},
		{"taken back: what has accrued", contracts.Cancelled, false, false, 20, [2]float64{40, 40}, [2]float64{1, 0.25}, 0, half, "cancelled 80, pays [1.000000 0.250000], owes 0.000000"},
		{"killed: late by its deadline", contracts.Killed, false, false, 20, [2]float64{40, 40}, [2]float64{1, 0}, 0, half, "killed 80, pays [1.000000 0.000000], owes 5.000000"},
	} {
		r := contracts.Request{Work: 100, Nodes: 2, SLA: contracts.SLA{Budget: bank.Micros(3e6), Deadline: 50, Soft: c.soft, Penalty: c.penalty}}
		over := Case{Request: &r, Work: 100, End: c.end, ByDue: c.byDue, Price: r.SLA.Budget, Hosts: []Host{{Capacity: 1}}}
		for n := range 2 {
			over.Nodes = append(over.Nodes, contracts.Placement{Done: c.done[n], Owed: c.owed[n]})
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

// TestDelay checks that the delay of a contract is finish - due if its work continues (eq. 2),
// and otherwise the time for the remaining work at the promised pace.
func TestDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		outcome contracts.Outcome
		soft    bool
		ended   float64
		byDue   float64 // work done by the deadline, of 2 x 100
		want    float64
	}{
		{"soft", contracts.Late, true, 175, 130, 25},
		{"hard, a quarter left", contracts.Late, false, 150, 150, 12.5},
		{"hard, nothing done", contracts.Late, false, 150, 0, 50},
		{"hard, more than was asked for", contracts.Late, false, 150, 300, 0},
		{"soft and broken: what is left", contracts.Broken, true, 140, 100, 25},
		{"soft and broken late: the delay", contracts.Broken, true, 190, 100, 40},
		{"killed", contracts.Killed, true, 120, 190, 50},
	} {
		r := contracts.Request{Submit: 100, Work: 100, Nodes: 2, SLA: contracts.SLA{Deadline: 50, Soft: c.soft}}
		k := Case{Request: &r, End: c.ended}
		if got := k.delay(&Verdict{Outcome: c.outcome, ByDue: c.byDue}); got != c.want {
			t.Errorf("%s: %v s, want %v", c.name, got, c.want)
		}
	}
}

// TestPenalty checks that penalties are exact products, rounded once toward zero, even for
// delays with float64 rounding errors.
func TestPenalty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		submit, deadline, end float64
		rate, most            float64
		want                  int64
	}{
		{0, 10, 15, 0.0003, math.Inf(1), 1500},
		{100, 10, 120, 0.0003, math.Inf(1), 3000},
		{100.1, 10, 115.1, 0.0003, math.Inf(1), 1500}, // 115.1 - 110.1 = 4.999999999999986
		{1e6 + 0.7, 0.2, 1e6 + 1.2, 0.01, math.Inf(1), 3000},
		{0, 10, 11, 1.9999999, math.Inf(1), 1999999},
		{0, 1, 30, 0.1, 2.9, 2900000},
		{0, 1, 30, 0.1, 2.8, 2800000},
		{0, 1, 1e11, 1e9, math.Inf(1), mostOwed * 1e6},
		{0, 1, 110.38 / 3, 0.0003, math.Inf(1), 10738}, // 107.38 s / 3 at $0.0003/s
		{0, 1, 4.0 / 3, 3, math.Inf(1), 1000000},
		{0, 1, 1e6 + 5.0/3, 0.9, math.Inf(1), 900000600000},
		{0, 1, 1.1, 123456.7890129, math.Inf(1), 12345678901}, // the remaining 0.29 micro-dollars are not owed
	} {
		r := contracts.Request{Submit: c.submit, Work: 1, Nodes: 1, SLA: contracts.SLA{
			Budget: bank.Micros(1e6), Deadline: c.deadline, Soft: true, Penalty: contracts.Penalty{Rate: c.rate, Max: c.most},
		}}
		over := Case{Request: &r, Work: 1, Admitted: c.submit, End: c.end, Nodes: []contracts.Placement{{Done: 1}}, Hosts: []Host{{Capacity: 1}}}
		v := over.Judge(contracts.Open)
		if b, err := over.Bill(false, &v, nil); err != nil || b.Penalty != bank.Micros(c.want) {
			t.Errorf("$%v/s from %v to %v: %v, %v, want %v", c.rate, c.submit+c.deadline, c.end, b.Penalty, err, bank.Micros(c.want))
		}
	}
}

// TestCheck checks that settlement rejects values that are impossible for a contract.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *Case, v *Verdict, b *Bill){
		"":                              func(*Case, *Verdict, *Bill) {},
		"-1 of 100":                     func(_ *Case, v *Verdict, _ *Bill) { v.ByDue = -1 },
		"100.5 of 100":                  func(_ *Case, v *Verdict, _ *Bill) { v.ByDue = 100.5 },
		"NaN of 100":                    func(_ *Case, v *Verdict, _ *Bill) { v.ByDue = math.NaN() },
		"101 of 100 work done":          func(_ *Case, v *Verdict, _ *Bill) { v.Done = 101 },
		"submitted at 6, admitted at 5": func(c *Case, _ *Verdict, _ *Bill) { c.Request.Submit = 6 },
		"admitted at 5, ended at 4":     func(c *Case, _ *Verdict, _ *Bill) { c.End = 4 },
		"charged 2.000000":              func(_ *Case, _ *Verdict, b *Bill) { b.Paid = bank.Micros(2e6) },
		"charged -0.000001":             func(_ *Case, _ *Verdict, b *Bill) { b.Paid = bank.Micros(-1) },
	} {
		r := contracts.Request{Submit: 5, SLA: contracts.SLA{Budget: bank.Micros(1e6)}}
		c := Case{Request: &r, Work: 100, Admitted: 5, End: 90, Nodes: []contracts.Placement{{Done: 100}}, Hosts: []Host{{Capacity: 1}}}
		v, b := Verdict{Done: 100, Needed: 100, ByDue: 100}, Bill{Paid: bank.Micros(1e6)}
		change(&c, &v, &b)
		if err := c.check(&v, &b); (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestCheckEdges checks that extreme values that are still possible are settled: no work by the
// deadline, work that exceeds the need by rounding, and an end at the time of admission.
func TestCheckEdges(t *testing.T) {
	t.Parallel()
	r := contracts.Request{Submit: 5, SLA: contracts.SLA{Budget: bank.Micros(1e6)}}
	c := Case{Request: &r, Work: 100, Admitted: 5, End: 5, Nodes: []contracts.Placement{{Done: 100 + contracts.Tolerance*100}}, Hosts: make([]Host, 1)}
	for _, byDue := range []float64{0, 100} {
		if err := c.check(&Verdict{Done: c.Nodes[0].Done, Needed: 100, ByDue: byDue}, &Bill{}); err != nil {
			t.Errorf("%v by the deadline: %v", byDue, err)
		}
	}
}

// TestMeasuredNodes checks that the work of one node beyond its promise does not count for
// another node, if programs on real hosts continue after their work.
func TestMeasuredNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perHost, measured bool
		cause             contracts.Outcome
		want              float64
	}{
		{true, true, contracts.Open, 140}, {false, true, contracts.Open, 200}, {true, false, contracts.Open, 200}, {true, true, contracts.Cancelled, 200},
	} {
		r := contracts.Request{PerHost: c.perHost, SLA: contracts.SLA{Deadline: 50}}
		k := Case{Request: &r, Work: 100, End: 50, Measured: c.measured, Hosts: []Host{{Capacity: 1}}, Nodes: []contracts.Placement{{Done: 190}, {Done: 40}}}
		if got := k.Judge(c.cause).ByDue; got != c.want {
			t.Errorf("%+v: %v done by the deadline", c, got)
		}
	}
}

// TestWorked checks the limits at which work counts as done. At most the tolerance may be
// missing, plus the work that a host does in two of the smallest time steps at the deadline, or
// at the end if that is later. Nodes that are promised separately are judged one by one, and
// other nodes together.
func TestWorked(t *testing.T) {
	t.Parallel()
	const fast = 1e9 // at 1e6 s, the contract does 0.23 of work in the smallest time step
	for _, c := range []struct {
		name              string
		perHost, onDemand bool
		due, end          float64
		work, capacity    float64
		done              [2]float64
		want              bool
	}{
		{"all", false, false, 50, 40, 100, 1, [2]float64{100, 100}, true},
		{"one for the other", false, false, 50, 40, 100, 1, [2]float64{150, 50}, true},
		{"not one for the other", true, false, 50, 40, 100, 1, [2]float64{150, 50}, false},
		{"not the other for one", true, false, 50, 40, 100, 1, [2]float64{50, 150}, false},
		{"each", true, false, 50, 40, 100, 1, [2]float64{100, 100}, true},
		{"less than 1e-9 is left", false, false, 50, 40, 1e9, 1, [2]float64{1e9 - 0.5, 1e9 - 0.5}, true},
		{"more than 1e-9 is left", false, false, 50, 40, 1e9, 1, [2]float64{1e9 - 2, 1e9 - 2}, false},
		{"moments at the deadline", false, false, 1e6, 50, 100, fast, [2]float64{99.9, 99.9}, true},
		{"moments at the end", false, false, 50, 1e6, 100, fast, [2]float64{99.9, 99.9}, true},
		{"moments before both", false, false, 50, 50, 100, fast, [2]float64{99.9, 99.9}, false},
		{"no deadline", false, true, 50, 50, 100, fast, [2]float64{99.9, 99.9}, false},
		{"no deadline, moments at the end", false, true, 50, 1e6, 100, fast, [2]float64{99.9, 99.9}, true},
		{"nothing to do", false, false, 50, 50, 0, 0, [2]float64{}, true},
		{"nothing to do on each", true, false, 50, 50, 0, 0, [2]float64{}, true},
	} {
		r := contracts.Request{PerHost: c.perHost, OnDemand: c.onDemand, SLA: contracts.SLA{Deadline: c.due}}
		k := Case{Request: &r, Work: c.work, End: c.end, Hosts: []Host{{Capacity: c.capacity}}}
		for _, done := range c.done {
			k.Nodes = append(k.Nodes, contracts.Placement{Done: done})
		}
		if got := k.Worked(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestParts checks that a price is divided equally among the hosts, and that the remaining
// micro-dollars go to the first hosts. Arrears are paid in the same proportion as other
// charges, and impossible values are rejected.
func TestParts(t *testing.T) {
	t.Parallel()
	r := contracts.Request{Work: 10, Nodes: 3, SLA: contracts.SLA{Budget: bank.Micros(11), Deadline: 50}}
	c := Case{Request: &r, Work: 10, End: 40, Price: bank.Micros(11), Hosts: []Host{{Capacity: 1}}}
	for range 3 {
		c.Nodes = append(c.Nodes, contracts.Placement{Done: 10, Owed: 4e-6})
	}
	v := c.Judge(contracts.Open)
	bill := func(whole bool) (amounts []int64, err error) {
		b, err := c.Bill(whole, &v, nil)
		for _, p := range b.Pay {
			amounts = append(amounts, p.Amount.Micros())
		}
		return amounts, err
	}
	if got, err := bill(true); err != nil || fmt.Sprint(got) != "[4 4 3]" {
		t.Errorf("11 over three hosts: %v, %v, want [4 4 3]", got, err)
	}
	c.Arrears = []contracts.Placement{{Owed: 6e-6}}
	if got, err := bill(false); err != nil || fmt.Sprint(got) != "[4 3 2 2]" {
		t.Errorf("11 where 6 are owed from before, and 4 on each: %v, %v, want [4 3 2 2]", got, err)
	}
	c.Nodes[0].Done = 11
	v = c.Judge(contracts.Open)
	if got, err := bill(false); err == nil {
		t.Errorf("11 of 10 work done is billed: %v", got)
	}
}

// TestFee checks that a fee is the given fraction of the price, at most the whole price,
// rounded toward zero.
func TestFee(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		price   int64
		due, of float64
		want    int64
	}{{3e6, 0.5, 1, 1.5e6}, {3e6, 0, 1, 0}, {3e6, 2, 1, 3e6}, {3, 0.5, 1, 1}, {3e6, 1, 3, 1e6}, {4350000, 0.1, 1, 435000}, {1e6, 2, 3, 666666}} {
		if got, err := Fee(bank.Micros(c.price), c.due, c.of); err != nil || got != bank.Micros(c.want) {
			t.Errorf("%v / %v of %v micro-dollars: %v, %v, want %v", c.due, c.of, c.price, got, err, c.want)
		}
	}
	if got, err := Price(1.5); err != nil || got != bank.Micros(1.5e6) {
		t.Errorf("1.5 dollars: %v, %v", got, err)
	}
}

// TestDebits checks who pays a penalty: first the hosts, from their earnings on the contract
// and in proportion to them, and then the provider.
func TestDebits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		owed   int64
		earned []int64
		want   string
	}{
		{9, []int64{10, 20}, "[{1 0.000003} {2 0.000006}]"},
		{10, []int64{10, 20}, "[{1 0.000003} {2 0.000007}]"},
		{40, []int64{10, 20}, "[{1 0.000010} {2 0.000020} {7 0.000010}]"},
		{40, []int64{0, 0}, "[{7 0.000040}]"},
		{40, nil, "[{7 0.000040}]"},
		{0, []int64{10, 20}, "[]"},
	} {
		b := Bill{Penalty: bank.Micros(c.owed)}
		sum := int64(0)
		for i, e := range c.earned {
			b.Pay = append(b.Pay, bank.Payment{To: bank.Account(i + 1), Amount: bank.Micros(e)})
			sum += e
		}
		b.Paid = bank.Micros(sum)
		if got := fmt.Sprint(b.Debits(7, nil)); got != c.want {
			t.Errorf("%d owed, %v earned: %s, want %s", c.owed, c.earned, got, c.want)
		}
	}
}
