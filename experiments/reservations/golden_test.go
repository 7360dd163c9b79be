package reservations

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// The golden cases are shared with independent implementations of the same rules. An
// expectation may be incomplete: only the named values are compared.

// A goldenOptions contains the options of a case, which start with their defaults.
type goldenOptions struct {
	Admission  string   `json:"admission"`
	ZetaScope  string   `json:"zeta_scope"`
	ZetaScale  string   `json:"zeta_scale"`
	Util       string   `json:"util"`
	Overrun    string   `json:"overrun"`
	ExtendPct  int64    `json:"extend_pct"`
	Preempt    bool     `json:"preempt"`
	ODMap      string   `json:"od_map"`
	ODDeadline *float64 `json:"od_deadline"`
}

func defaultOptions() goldenOptions {
	return goldenOptions{Admission: "edf", ZetaScope: "ar", ZetaScale: "mul", Util: "cumulative", Overrun: "extend", ExtendPct: 20, ODMap: "IMCT"}
}

type goldenCase struct {
	ID      string                     `json:"id"`
	Kind    string                     `json:"kind"`
	Why     string                     `json:"why"`
	Options json.RawMessage            `json:"options"`
	Input   json.RawMessage            `json:"input"`
	Expect  map[string]json.RawMessage `json:"expect"`
}

type goldenJob struct {
	ID        int64  `json:"id"`
	Kind      string `json:"kind"`
	Arrival   int64  `json:"arrival"`
	Earliest  *int64 `json:"earliest_start"`
	Deadline  *int64 `json:"deadline"`
	Runtime   int64  `json:"runtime"`
	Estimate  int64  `json:"estimate"`
	Nodes     int    `json:"nodes"`
	Remaining int64  `json:"remaining"`

	// The following fields describe outcomes.
	Status  string `json:"status"`
	Cluster *int   `json:"cluster"`
	Start   int64  `json:"start"`
	End     int64  `json:"end"`
}

// job returns g with default values. If only one of the runtime and the estimate is given, both
// are equal. A job without a deadline is on demand.
func (g goldenJob) job(o goldenOptions) Job {
	j := Job{
		Job:     timetable.Job{ID: g.ID, Arrival: g.Arrival, Earliest: g.Arrival, Deadline: timetable.Forever, Estimate: g.Estimate, Nodes: g.Nodes},
		Runtime: g.Runtime,
	}
	if g.Kind == "OD" || g.Kind == "" && g.Deadline == nil {
		j.Kind = timetable.OnDemand
	}
	if g.Earliest != nil {
		j.Earliest = *g.Earliest
	}
	if g.Deadline != nil {
		j.Deadline = *g.Deadline
	}
	if j.Runtime == 0 {
		j.Runtime = j.Estimate
	}
	if j.Estimate == 0 {
		j.Estimate = j.Runtime
	}
	if j.Kind == timetable.OnDemand && o.ODDeadline != nil {
		j.Deadline = j.Arrival + j.Estimate + timetable.Times(*o.ODDeadline, j.Estimate)
	}
	return j
}

type goldenCluster struct {
	Nodes   int   `json:"nodes"`
	Speed   int64 `json:"speed"`
	Running []struct {
		ID    int64  `json:"id"`
		Nodes int    `json:"nodes"`
		Start *int64 `json:"start"`
		End   int64  `json:"end"`
	} `json:"running"`
	Accepted   []goldenJob `json:"accepted"`
	Jobs       []goldenJob `json:"jobs"`
	BusyBefore int64       `json:"busy_before"`
}

// A book is the interface of a cluster that a golden case uses.
type book interface {
	matchmaking.Venue
	PlanIf(*timetable.Quote, []timetable.Start) ([]timetable.Start, error)
}

// A noPlan is a preemptive book, which has no planned starts.
type noPlan struct{ *timetable.Preemptive }

func (noPlan) PlanIf(*timetable.Quote, []timetable.Start) ([]timetable.Start, error) {
	return nil, errors.New("no planned starts")
}

func (g goldenCluster) config(o goldenOptions) timetable.Config {
	c := timetable.Config{Nodes: g.Nodes, Speed: g.Speed, ExtendPct: o.ExtendPct}
	if o.Admission == "edf+insert" {
		c.Admission = timetable.EDFInsert
	}
	if o.Overrun == "kill" {
		c.Overrun = timetable.Kill
	}
	return c
}

func (g goldenCluster) open(now int64, o goldenOptions) (book, error) {
	if o.Preempt {
		var parts []timetable.Part
		for _, j := range g.Jobs {
			parts = append(parts, timetable.Part{Job: j.job(o).Job, Left: j.Remaining})
		}
		p, err := timetable.NewPreemptive(g.config(o), now, g.BusyBefore, parts)
		if err == nil {
			p.Advance(now, nil, nil) // released jobs start
		}
		return noPlan{p}, err
	}
	s := timetable.State{Now: now, Executed: g.BusyBefore}
	for _, r := range g.Running {
		if r.End <= now {
			continue // the job occupies no more nodes
		}
		run := timetable.Running{Job: timetable.Job{ID: r.ID, Nodes: r.Nodes, Deadline: timetable.Forever}, Start: now, End: r.End}
		if r.Start != nil {
			run.Start = *r.Start
		}
		s.Running = append(s.Running, run)
	}
	for _, j := range g.Accepted {
		s.Planned = append(s.Planned, j.job(o).Job)
	}
	return timetable.Open(g.config(o), s)
}

// matchmaker creates the algorithm of a case from its name in the paper.
func (o goldenOptions) matchmaker(t *testing.T, name string, draws []uint64, pointer int) matchmaking.Matchmaker {
	t.Helper()
	name = strings.ToLower(name)
	var given any
	switch name {
	case "minu", "maxu":
		given = matchmaking.UtilizationOptions{Util: o.Util}
	case "mli":
		given = matchmaking.ImpactOptions{Scope: o.ZetaScope, Scale: o.ZetaScale, Ties: "completion"}
	case "nf":
		given = matchmaking.NextFit{Next: pointer}
	default:
		given = struct{}{}
	}
	m, err := matchmaking.Table(rand.New(&recorded{draws: draws})).New(name, decoder(given))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// decoder strictly decodes given into an options struct.
func decoder(given any) func(any) error {
	return func(into any) error {
		data, err := json.Marshal(given)
		if err != nil {
			return err
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		return d.Decode(into)
	}
}

// A recorded is a random source that returns the draws of a case and then zeros.
type recorded struct {
	draws []uint64
	next  int
}

func (r *recorded) Uint64() uint64 {
	r.next++
	if r.next > len(r.draws) {
		return 0
	}
	return r.draws[r.next-1]
}

// TestGolden checks every golden case in the folder named by BOURSE_GOLDEN_RESERVATIONS. By
// default, that is the project's own copy.
func TestGolden(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("BOURSE_GOLDEN_RESERVATIONS")
	if folder == "" {
		folder = filepath.Join("testdata", "golden")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden cases in %s (%v)", folder, err)
	}
	kinds := map[string]func(*testing.T, goldenCase, goldenOptions){
		"edf_plan": goldenPlan, "fit_report": goldenFit, "match": goldenMatch, "simulate": goldenSimulate,
		"metrics": goldenMetrics, "node_choice": goldenNodes, "coalloc": goldenTogether,
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Cases []goldenCase }
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, c := range file.Cases {
			check, ok := kinds[c.Kind]
			if !ok {
				continue // case of another package
			}
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				o := defaultOptions()
				if len(c.Options) > 0 {
					d := json.NewDecoder(bytes.NewReader(c.Options))
					d.DisallowUnknownFields()
					if err := d.Decode(&o); err != nil {
						t.Fatal(err)
					}
				}
				check(t, c, o)
			})
		}
	}
}

func input[T any](t *testing.T, c goldenCase) (v T) {
	t.Helper()
	if err := json.Unmarshal(c.Input, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// compare reports where got differs from the expectation of the case.
func compare(t *testing.T, what string, expect map[string]json.RawMessage, got map[string]any) {
	t.Helper()
	for key, raw := range expect {
		g, ok := got[key]
		if !ok {
			t.Errorf("%s: nothing to compare with %s", what, key)
			continue
		}
		var want, have any
		data, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(json.Unmarshal(raw, &want), json.Unmarshal(data, &have)); err != nil {
			t.Fatal(err)
		}
		if !alike(have, want) {
			t.Errorf("%s: %s = %s, want %s", what, key, data, raw)
		}
	}
}

// alike compares decoded JSON. Numbers must agree within a relative error of 1e-9, which is
// exact for the integers here. Of an object, only the expected keys are compared.
func alike(have, want any) bool {
	switch w := want.(type) {
	case float64:
		h, ok := have.(float64)
		return ok && math.Abs(h-w) <= 1e-9*math.Abs(w)
	case []any:
		h, ok := have.([]any)
		return (ok || have == nil && len(w) == 0) && slices.EqualFunc(h, w, alike)
	case map[string]any:
		h, ok := have.(map[string]any)
		for k := range w {
			ok = ok && alike(h[k], w[k])
		}
		return ok
	}
	return have == want
}
