package whatif

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"bourse/workloadgen"
)

// TestSaid checks every kind of misreport on random plans. Reported jobs must be in order and
// have new numbers. Their total work must equal the work of the true job, unless the estimate
// is misreported. No reported job may be submitted before the true job, or be due after it
// unless the deadline is misreported.
func TestSaid(t *testing.T) {
	t.Parallel()
	t.Logf("-seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 4))
	var truth workloadgen.Plan
	at := 0.0
	for i := range 200 {
		at += 10 * rng.Float64()
		runtime := 1 + 100*rng.Float64()
		truth = append(truth, workloadgen.Job{
			ID: int64(3 * i), User: int64(rng.IntN(9)), Arrival: at, Runtime: runtime, Estimate: 1.5 * runtime,
			Deadline: 1 + 200*rng.Float64(), Nodes: 1 + rng.IntN(9), Parts: rng.IntN(2), Value: 10 * rng.Float64(), PenaltyRate: rng.Float64(),
		})
	}
	for _, d := range UsualDeviations() {
		said := misreport(truth, func(user int64) Deviation {
			if user%2 == 0 {
				return d
			}
			return Deviation{}
		})
		if err := said.Plan.Validate(); err != nil {
			t.Errorf("%s: %v", d, err)
		}
		work, value := make([]float64, len(truth)), make([]float64, len(truth))
		names := make(map[int64]map[int64]bool)
		for i := range said.Plan {
			j, of := &said.Plan[i], &truth[said.Of[i]]
			work[said.Of[i]] += j.Work()
			value[said.Of[i]] += j.Value
			if names[of.User] == nil {
				names[of.User] = make(map[int64]bool)
			}
			names[of.User][j.User] = true
			if of.User%2 == 1 && *j != *of {
				t.Errorf("%s: %+v, want the truth, %+v", d, *j, *of)
			}
			if j.Arrival < of.Arrival || d.Kind != "deadline" && j.Arrival+j.Deadline > of.Arrival+of.Deadline+1e-9 {
				t.Errorf("%s: job %d comes at %v for %v s, in truth at %v for %v s", d, j.ID, j.Arrival, j.Deadline, of.Arrival, of.Deadline)
			}
			if d.Kind == "deadline" && of.User%2 == 0 && j.Cancel != of.Deadline {
				t.Errorf("%s: job %d is taken back after %v s, want %v", d, j.ID, j.Cancel, of.Deadline)
			}
		}
		for i := range truth {
			want := truth[i].Value
			if d.Kind == "value" && truth[i].User%2 == 0 {
				want *= d.By
			}
			if math.Abs(work[i]-truth[i].Work()) > 1e-9*work[i] || math.Abs(value[i]-want) > 1e-9*want {
				t.Errorf("%s: job %d is of work %v for $%v, want %v for $%v", d, truth[i].ID, work[i], value[i], truth[i].Work(), want)
			}
		}
		for user, as := range names {
			if n := len(as); d.Kind == "sybils" && user%2 == 0 && n != int(d.By) || !(d.Kind == "sybils" && user%2 == 0) && n != 1 {
				t.Errorf("%s: user %d has %d names", d, user, n)
			}
		}
	}
}

// TestParse checks that a misreport is parsed as it is formatted, and that invalid ones are
// rejected.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, d := range UsualDeviations() {
		if got, err := ParseDeviation(d.String()); err != nil || got != d {
			t.Errorf("%s: %v, %v", d, got, err)
		}
		if !strings.Contains(DeviationKinds(), d.Kind) {
			t.Errorf("%s is not in the list of kinds", d.Kind)
		}
	}
	for text, want := range map[string]string{
		"":             "KIND=NUMBER",
		"bluff=2":      "KIND=NUMBER, with one of these kinds: value",
		"value":        "want a factor above 0",
		"value=0":      "want a factor above 0",
		"value=1":      "not 1",
		"value=NaN":    "want a factor above 0",
		"value=1001":   "at most 1000",
		"deadline=inf": "want a factor above 0",
		"delay=1":      "below 1",
		"split=1":      "2 to 64",
		"split=2.5":    "2 to 64",
		"sybils=65":    "2 to 64",
	} {
		if _, err := ParseDeviation(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestRounds checks how rounds end: no user finds a better report, the reports cycle, or
// there are no more rounds.
func TestRounds(t *testing.T) {
	t.Parallel()
	never := func() bool { return false }
	for _, c := range []struct {
		name    string
		better  func(player int) (bool, error)
		again   func() bool
		rounds  int
		settled bool
	}{
		{"truth", func(int) (bool, error) { return false, nil }, never, 1, true},
		{"restless", func(int) (bool, error) { return true, nil }, never, 7, false},
		{"round", func(int) (bool, error) { return true, nil }, func() bool { return true }, 1, false},
	} {
		rounds, settled, err := rounds(3, 7, c.better, c.again)
		if rounds != c.rounds || settled != c.settled || err != nil {
			t.Errorf("%s: %d rounds, settled %v, %v; want %d, %v", c.name, rounds, settled, err, c.rounds, c.settled)
		}
	}
}

// The example computes the gain of a user who bids half of the value, if users pay their bids.
func Example() {
	truth := workloadgen.Plan{
		{ID: 1, User: 1, Nodes: 1, Runtime: 60, Deadline: 60, Value: 10},
		{ID: 2, User: 2, Nodes: 1, Runtime: 60, Deadline: 60, Value: 4},
	}
	m := game{Truth: truth, Alpha: 1, Run: func(said reported) ([]reportedOutcome, error) {
		fates := make([]reportedOutcome, len(said.Plan))
		won := 0
		for i := range said.Plan {
			if said.Plan[i].Value > said.Plan[won].Value {
				won = i
			}
		}
		fates[won] = reportedOutcome{Done: said.Plan[won].Work(), Paid: said.Plan[won].Value}
		return fates, nil
	}}
	lies := []Deviation{{Kind: "value", By: 0.5}, {Kind: "value", By: 0.3}}
	truly, gains, err := m.gains([]int64{1, 2}, lies)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range gains {
		fmt.Println("user", g.User, "has", truly.Utility[g.User], "and gains", g.By)
	}
	// Output:
	// user 1 has 0 and gains [5 0]
	// user 2 has 0 and gains [0 0]
}
