package timetable

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func mustNew(t *testing.T, c Config) *Book {
	t.Helper()
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestStale checks that a quote can be committed only at its second and while the book is
// unchanged, whatever other quotes were requested in between.
func TestStale(t *testing.T) {
	t.Parallel()
	job := func(id int64) Job {
		return Job{ID: id, Arrival: 0, Earliest: 5, Deadline: 40, Estimate: 5, Nodes: 1}
	}
	b := mustNew(t, Config{Nodes: 1})
	first, second := b.Quote(0, job(1)), b.Quote(0, job(2))
	tight := job(4)
	tight.Deadline, tight.Estimate = 60, 20
	long := mustNew(t, Config{Nodes: 1})
	if _, err := long.Commit(0, long.Quote(0, job(5)), nil); err != nil {
		t.Fatal(err)
	}
	taken := long.Quote(0, tight)
	tight.Deadline, tight.Estimate = 39, 31 // job 5 cannot wait for the new job
	if refused := long.Quote(0, tight); refused.Reason != NoPlan {
		t.Fatalf("refused for %q", refused.Reason)
	}
	if _, err := long.Commit(0, taken, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := long.Plan(nil), []Start{{5, 5}, {4, 10}}; !slices.Equal(got, want) {
		t.Errorf("after a refusal in between: plan = %v, want %v", got, want)
	}
	if _, err := b.Commit(1, first, nil); !errors.Is(err, ErrStale) {
		t.Errorf("committed a second later: %v", err)
	}
	version := b.Version()
	if _, err := b.Commit(0, first, nil); err != nil {
		t.Errorf("an earlier quote on an unchanged book: %v", err)
	}
	if b.Version() == version {
		t.Error("the version did not change")
	}
	if got, want := b.Plan(nil), []Start{{1, 5}}; !slices.Equal(got, want) {
		t.Errorf("plan = %v, want %v", got, want)
	}
	if _, err := b.Commit(0, second, nil); !errors.Is(err, ErrStale) {
		t.Errorf("committed after another: %v", err)
	}
	if _, err := b.PlanIf(&second, nil); !errors.Is(err, ErrStale) {
		t.Errorf("planned after another: %v", err)
	}
	wide := job(3)
	wide.Nodes = 2
	q := b.Quote(0, wide)
	if _, err := b.Commit(0, q, nil); !errors.Is(err, ErrInfeasible) || q.Reason != TooWide {
		t.Errorf("committed a refusal (%q): %v", q.Reason, err)
	}
	third := b.Quote(4, job(3))
	b.Advance(5, nil, nil) // job 1 starts
	if _, err := b.Commit(4, third, nil); !errors.Is(err, ErrStale) {
		t.Errorf("committed after a start: %v", err)
	}
}

// TestZetaBegun checks that E, the set of jobs that start after the second of the quote, does
// not contain jobs that start at that second.
func TestZetaBegun(t *testing.T) {
	t.Parallel()
	b, err := Open(Config{Nodes: 1}, State{Now: 5, Planned: []Job{
		{ID: 1, Deadline: 50, Estimate: 5, Nodes: 1}, {ID: 2, Deadline: 60, Estimate: 5, Nodes: 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	q := b.Quote(5, Job{ID: 3, Arrival: 5, Earliest: 5, Deadline: 12, Estimate: 4, Nodes: 1})
	if !q.Feasible || q.Zeta != 4 { // job 2 alone; job 1 starts at 5
		t.Errorf("zeta = %d, want 4 (%+v)", q.Zeta, q)
	}
}

// TestNonCanonical checks that the first admission after an insertion rebuilds the plan. Job 1
// is planned at 5..15 and on-demand job 2 at 15..20. Job 3 is planned after both at 20..30,
// because at 14 it would delay job 1. When job 1 runs, job 3 moves to 15, job 2 moves to 25,
// and job 4 is planned after both.
func TestNonCanonical(t *testing.T) {
	t.Parallel()
	b := mustNew(t, Config{Nodes: 2, Admission: EDFInsert})
	for _, j := range []Job{
		{ID: 1, Earliest: 5, Deadline: 31, Estimate: 10, Nodes: 2},
		{ID: 2, Earliest: 14, Kind: OnDemand, Deadline: Forever, Estimate: 5, Nodes: 2},
		{ID: 3, Earliest: 14, Deadline: 30, Estimate: 10, Nodes: 2},
	} {
		if _, err := b.Commit(0, b.Quote(0, j), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := b.Plan(nil), []Start{{3, 20}, {1, 5}, {2, 15}}; !slices.Equal(got, want) {
		t.Fatalf("plan = %v, want %v", got, want)
	}
	b.Advance(5, nil, nil)
	last := Job{ID: 4, Arrival: 6, Earliest: 20, Kind: OnDemand, Deadline: Forever, Estimate: 3, Nodes: 2}
	q := b.Quote(6, last)
	plan, err := b.PlanIf(&q, nil)
	if want := []Start{{3, 15}, {2, 25}, {4, 30}}; err != nil || !slices.Equal(plan, want) {
		t.Errorf("plan = %v, want %v (%v)", plan, want, err)
	}
	if q.Zeta != -5 || q.ZetaAll != 5 {
		t.Errorf("zeta = %d, %d, want -5, 5", q.Zeta, q.ZetaAll)
	}
}

// TestEarlyEndHarms checks the anomaly of greedy plans: when job 1 ends early, a new plan
// places 3 at 5..11, so 2 would be late. The old plan is kept, and no job is admitted until a
// new plan is feasible again.
func TestEarlyEndHarms(t *testing.T) {
	t.Parallel()
	b := mustNew(t, Config{Nodes: 2})
	for _, j := range []Job{
		{ID: 1, Earliest: 0, Deadline: 8, Estimate: 6, Nodes: 1},
		{ID: 2, Earliest: 2, Deadline: 13, Estimate: 4, Nodes: 1},
		{ID: 3, Earliest: 5, Deadline: 12, Estimate: 6, Nodes: 2},
	} {
		if _, err := b.Commit(0, b.Quote(0, j), nil); err != nil {
			t.Fatal(err)
		}
	}
	b.Advance(1, []int64{1}, nil)
	if got, want := b.Plan(nil), []Start{{3, 6}, {2, 2}}; !slices.Equal(got, want) {
		t.Errorf("plan = %v, want %v", got, want)
	}
	small := Job{ID: 4, Arrival: 1, Earliest: 1, Deadline: 2, Estimate: 1, Nodes: 1}
	if q := b.Quote(1, small); q.Reason != NoPlan {
		t.Errorf("admitted: %+v", q)
	}
	b.Advance(2, nil, nil) // 2 runs, and 3 starts at 6 after 2, so a rebuild gives the same plan
	small.Arrival, small.Earliest, small.Deadline = 2, 2, 3
	if q := b.Quote(2, small); !q.Feasible || q.Start != 2 {
		t.Errorf("refused: %+v", q)
	}
}

// TestReasons checks the reasons why jobs are refused.
func TestReasons(t *testing.T) {
	t.Parallel()
	b := mustNew(t, Config{Nodes: 2})
	held := Job{ID: 1, Earliest: 10, Deadline: 20, Estimate: 10, Nodes: 2}
	if _, err := b.Commit(0, b.Quote(0, held), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(*Job)
		want   string
	}{
		{func(j *Job) { j.Earliest, j.Deadline = 20, 30 }, ""},
		{func(j *Job) { j.ID = 1 }, Known},
		{func(j *Job) { j.Nodes = 3 }, TooWide},
		{func(j *Job) { j.Nodes = 0 }, Invalid},
		{func(j *Job) { j.Deadline = 19 }, TooLong},
		{func(j *Job) { j.Deadline = 29 }, NoPlan},
	} {
		j := Job{ID: 2, Earliest: 10, Deadline: 40, Estimate: 10, Nodes: 1}
		c.change(&j)
		q := b.Quote(0, j)
		if q.Reason != c.want || q.Feasible != (c.want == "") {
			t.Errorf("%+v: feasible %v, reason %q, want %q", j, q.Feasible, q.Reason, c.want)
		}
	}
}

// TestValidate checks that the error names each invalid field.
func TestValidate(t *testing.T) {
	t.Parallel()
	good := Job{ID: 4, Arrival: 1, Earliest: 2, Deadline: 9, Estimate: 3, Nodes: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Job){
		"kind":             func(j *Job) { j.Kind = 7 },
		"arrival":          func(j *Job) { j.Arrival = -1 },
		"earliest start 0": func(j *Job) { j.Earliest = 0 },
		"deadline -5":      func(j *Job) { j.Deadline = -5 },
		fmt.Sprintf("want 0 to %d or none", int64(3*Horizon)): func(j *Job) { j.Deadline = 3*Horizon + 1 },
		"without a deadline": func(j *Job) { j.Deadline = Forever },
		"estimate 0":         func(j *Job) { j.Estimate = 0 },
		"estimate 687":       func(j *Job) { j.Estimate = Horizon + 1 },
		"0 nodes":            func(j *Job) { j.Nodes = 0 },
	} {
		j := good
		change(&j)
		if err := j.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", j, err, want)
		}
	}
}

// TestBounds checks that the bounds of each field are valid values.
func TestBounds(t *testing.T) {
	t.Parallel()
	good := Job{ID: 4, Arrival: 1, Earliest: 2, Deadline: 9, Estimate: 3, Nodes: 1}
	for name, change := range map[string]func(*Job){
		"first arrival":  func(j *Job) { j.Arrival, j.Earliest = 0, 0 },
		"last arrival":   func(j *Job) { j.Arrival, j.Earliest = Horizon, Horizon },
		"first start":    func(j *Job) { j.Earliest = j.Arrival },
		"first deadline": func(j *Job) { j.Deadline = 0 },
		"last deadline":  func(j *Job) { j.Deadline = 3 * Horizon },
		"shortest":       func(j *Job) { j.Estimate = 1 },
		"longest":        func(j *Job) { j.Estimate = Horizon },
		"most nodes":     func(j *Job) { j.Nodes = MaxNodes },
	} {
		j := good
		change(&j)
		if err := j.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []Config{
		{Nodes: 1}, {Nodes: MaxNodes}, {Nodes: 1, Speed: MinSpeed}, {Nodes: 1, Speed: MaxSpeed},
		{Nodes: 1, ExtendPct: 1}, {Nodes: 1, ExtendPct: 1000},
	} {
		if _, err := New(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	job := Job{ID: 1, Deadline: Forever, Kind: OnDemand, Estimate: 5, Nodes: 2}
	for _, s := range []State{
		{Now: 3 * Horizon, Executed: 1},
		{Now: 0, Running: []Running{{job, 0, 1}}},
		{Now: 8, Running: []Running{{job, 8, 3 * Horizon}}},
	} {
		if _, err := Open(Config{Nodes: 2}, s); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// TestOpen checks the invalid states with which a book cannot be opened.
func TestOpen(t *testing.T) {
	t.Parallel()
	job := Job{ID: 1, Deadline: Forever, Kind: OnDemand, Estimate: 5, Nodes: 2}
	run := Running{job, 3, 12}
	narrow := job
	narrow.Nodes, narrow.ID = 1, 2
	for _, c := range []struct {
		want   string
		config Config
		state  State
	}{
		{"0 nodes", Config{}, State{}},
		{"speed 1 permille", Config{Nodes: 2, Speed: 1}, State{}},
		{"admission", Config{Nodes: 2, Admission: 5}, State{}},
		{"overrun", Config{Nodes: 2, Overrun: 5}, State{}},
		{"opened at -1", Config{Nodes: 2}, State{Now: -1}},
		{"percent", Config{Nodes: 2, ExtendPct: -1}, State{}},
		{"not free", Config{Nodes: 1}, State{Now: 10, Running: []Running{run}}},
		{"not free", Config{Nodes: 2}, State{Now: 10, Running: []Running{run, {narrow, 3, 12}}}},
		{"twice", Config{Nodes: 4}, State{Now: 10, Running: []Running{run, run}}},
		{"twice", Config{Nodes: 4}, State{Now: 10, Running: []Running{run}, Planned: []Job{job}}},
		{"runs from", Config{Nodes: 2}, State{Now: 12, Running: []Running{run}}},
		{"runs from", Config{Nodes: 2}, State{Now: 2, Running: []Running{run}}},
		{"2 nodes of 1", Config{Nodes: 1}, State{Planned: []Job{job}}},
		{"estimate", Config{Nodes: 1}, State{Planned: []Job{{Kind: OnDemand, Nodes: 1}}}},
		{"deadline", Config{Nodes: 1}, State{Planned: []Job{{Deadline: 4, Estimate: 5, Nodes: 1}}}},
	} {
		if _, err := Open(c.config, c.state); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v %+v: %v, want %q", c.config, c.state, err, c.want)
		}
	}
}

// TestOpenedUnderWay checks that a job that is running when the book is opened is extended by a
// percentage of its whole estimate, here by 2 s of 10 s, when it reaches its estimate.
func TestOpenedUnderWay(t *testing.T) {
	t.Parallel()
	b, err := Open(Config{Nodes: 1}, State{Now: 12, Running: []Running{{Job{ID: 1, Nodes: 1}, 8, 18}}})
	if err != nil {
		t.Fatal(err)
	}
	if facts := b.Advance(18, nil, nil); !slices.Equal(facts, []Fact{{18, 1, Extended}}) || b.Next() != 20 {
		t.Errorf("facts %v, next at %d, want extended until 20", facts, b.Next())
	}
}

// TestTold checks that a book refuses to advance past an event or backwards.
func TestTold(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(*Book){
		"past a start":    func(b *Book) { b.Advance(11, nil, nil) },
		"back":            func(b *Book) { b.Advance(3, nil, nil) },
		"end of nobody":   func(b *Book) { b.Advance(5, []int64{9}, nil) },
		"end of planned":  func(b *Book) { b.Advance(5, []int64{1}, nil) },
		"quote past":      func(b *Book) { b.Quote(11, Job{}) },
		"quote unbrought": func(b *Book) { b.Quote(10, Job{}) },
		"cancel too late": func(b *Book) { _, _ = b.Cancel(10, 1, nil) },
	} {
		b := mustNew(t, Config{Nodes: 1})
		q := b.Quote(4, Job{ID: 1, Earliest: 10, Deadline: 90, Estimate: 5, Nodes: 1})
		if _, err := b.Commit(4, q, nil); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			misuse(b)
		}()
	}
}
