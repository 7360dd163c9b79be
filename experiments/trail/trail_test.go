package trail_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/trail"
)

// invented returns a made-up run in which every second job is rejected.
func invented(configuration, admission string, jobs int) trail.Run {
	r := trail.Run{
		Configuration: configuration, Admission: admission, Reps: 25, AllJobs: jobs, Ledger: "ledger/x/0",
		Rows: []trail.Row{
			{Summary: results.Summary{Configuration: configuration, Admission: admission, Metric: "violations", N: 25, Mean: new(0.25), SD: new(0.1), Lo95: new(0.2), Hi95: new(0.3)}, Values: make([]float64, 25)},
			{Summary: results.Summary{Configuration: configuration, Admission: admission, Metric: "undefined"}, Values: []float64{math.NaN()}},
		},
		Curve:   []results.Point{{Alpha: 0.5, N: 25, Mean: new(0.75)}},
		Prices:  []results.Price{{Time: 0, MeanPrice: 0.5}, {Time: 300, MeanPrice: 0.25}},
		Entries: map[int64][]trail.Entry{},
	}
	for i := range jobs {
		j := results.Job{Job: fmt.Sprint(i + 1), User: "<u>", Arrival: float64(i), Runtime: 10, Estimate: new(20.0), Nodes: 2, Value: 1_500_000, Decision: "reject", Reason: "share below threshold", Work: 20}
		e := bank.Entry{Seq: int64(2*i + 1), Time: float64(i), Kind: bank.Reject, Contract: int64(i + 1), Note: []byte(`{"decision":"reject","spot_share":0.5,"threshold":1.25}`)}
		all := []trail.Entry{{Entry: e}}
		if i%2 == 1 {
			j.Decision, j.Start, j.Finish, j.Fulfilled, j.Paid = "accept", new(float64(i)), new(float64(i+10)), new(i%4 == 1), new(results.Money(1))
			all[0].Kind, all[0].Moves = bank.Admit, []bank.Move{{From: "user:1", To: "escrow:" + j.Job, Amount: bank.Micros(1_500_000)}}
			all = append(all, trail.Entry{Entry: bank.Entry{Seq: int64(2*i + 2), Kind: bank.Settle, Contract: int64(i + 1), Moves: []bank.Move{{From: "escrow:" + j.Job, To: "host:<h>", Amount: bank.Micros(1)}}}})
		}
		r.Jobs = append(r.Jobs, j)
		r.Entries[int64(i+1)] = all
	}
	return r
}

func page(runs ...trail.Run) string {
	return string((&trail.Trail{Labels: report.Labels{}, Runs: runs}).Section().Body)
}

// TestWay checks that every link leads to an anchor of the page, that anchors are unique,
// and that links lead from a row to the entries of a job and back.
func TestWay(t *testing.T) {
	t.Parallel()
	got := page(invented("pareto high", "cac", 4), invented("pareto high", "be", 3), invented("low", "be", 2))
	places := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(got, -1) {
		if places[m[1]]++; places[m[1]] > 1 {
			t.Errorf("%s is there twice", m[1])
		}
	}
	from := map[string]bool{}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(got, -1) {
		if places[m[1]] == 0 {
			t.Errorf("no place %s", m[1])
		}
		from[m[1]] = true
	}
	for _, want := range []string{
		"row/pareto_20high/cac/violations", "rep/pareto_20high/cac/0", "jobs/pareto_20high/cac", "job/pareto_20high/cac/2", "price/pareto_20high/cac/0",
	} {
		if !from[want] {
			t.Errorf("no way to %s", want)
		}
	}
	for _, want := range []string{
		`<tr id="entry/pareto_20high/cac/3"><td><a href="#job/pareto_20high/cac/2">3</a>`, "$0.000001 escrow:2 → host:&lt;h&gt;",
		"Numbers that the policy used: spot share 0.5, threshold 1.25", "for: share below threshold", ".5,<wbr>&#34;threshold", "promise kept", "promise broken",
		"Left out: 5 of 25 replications", `<code>bourse ledger show RESULTS/ledger/x/0 --contract N --json</code>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
	if strings.Contains(got, "undefined") || strings.Contains(got, "<u>") || strings.Contains(got, "NaN") {
		t.Error("the page shows what is undefined, or takes a name for its own words")
	}
}

// TestRoom checks that a page stays below 20 MB for any data, and that it lists the omitted
// data with the command that shows them.
func TestRoom(t *testing.T) {
	t.Parallel()
	one := invented("c", "a", 400)
	one.AllJobs = 1_000_000
	all := make([]trail.Run, 100)
	for i := range all {
		all[i] = one
		all[i].Admission = fmt.Sprint(i)
	}
	got := page(all...)
	if len(got) > 19<<20 || len(got) < 10<<20 {
		t.Errorf("%d bytes", len(got))
	}
	for _, want := range []string{"Left out: 999600 of 1000000 jobs", "Left out: the rows of ", "summary.csv", "bourse explain RESULTS --run "} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
	if jobs := trail.Jobs(13) * 13; jobs > 5200 || trail.Jobs(1) < 100 || trail.Jobs(100000) < 1 {
		t.Errorf("room for %d jobs of 13 runs", jobs)
	}
}
