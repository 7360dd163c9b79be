package reservations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// The golden cases are exchanged with independent implementations of the same
// rules. An expectation may be a subset: only what it names is compared.

// goldenOptions are the options of a case, with their defaults.
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

	// Of outcomes.
	Status  string `json:"status"`
	Cluster *int   `json:"cluster"`
	Start   int64  `json:"start"`
	End     int64  `json:"end"`
}

func (g goldenJob) job() Job {
	j := Job{
		Job:     timetable.Job{ID: g.ID, Arrival: g.Arrival, Earliest: g.Arrival, Deadline: timetable.Forever, Estimate: g.Estimate, Nodes: g.Nodes},
		Runtime: g.Runtime,
	}
	if g.Kind == "OD" {
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

// book is what a golden case asks of a cluster.
type book interface {
	matchmaking.Venue
	PlanIf(*timetable.Quote, []timetable.Start) ([]timetable.Start, error)
}

// noPlan is a preemptive book, which has no planned starts.
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
			parts = append(parts, timetable.Part{Job: j.job().Job, Left: j.Remaining})
		}
		p, err := timetable.NewPreemptive(g.config(o), now, g.BusyBefore, parts)
		return noPlan{p}, err
	}
	s := timetable.State{Now: now, Executed: g.BusyBefore}
	for _, r := range g.Running {
		run := timetable.Running{Job: timetable.Job{ID: r.ID, Nodes: r.Nodes, Deadline: timetable.Forever}, Start: now, End: r.End}
		if r.Start != nil {
			run.Start = *r.Start
		}
		s.Running = append(s.Running, run)
	}
	for _, j := range g.Accepted {
		s.Planned = append(s.Planned, j.job().Job)
	}
	return timetable.Open(g.config(o), s)
}

// matchmaker makes the algorithm of a case by its name in the paper.
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
	m, err := matchmaking.New(name, decoder(given), rand.New(&recorded{draws: draws}))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// decoder decodes given into an options struct, strictly.
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

// recorded is a source of the draws of a case.
type recorded struct {
	draws []uint64
	next  int
}

func (r *recorded) Uint64() uint64 {
	r.next++
	return r.draws[r.next-1]
}

// TestGolden checks every golden case in the folder that
// BOURSE_GOLDEN_RESERVATIONS names, by default the project's own copy.
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
				continue // of another room
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

// compare reports where got is not what the case expects.
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

// alike compares decoded JSON: numbers within 1e-9 relative, which is exact for
// the integers here; an object with the keys of the wanted one alone.
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

func starts(plan []timetable.Start) (order []int64, at map[string]int64) {
	at = make(map[string]int64)
	for _, s := range plan {
		order = append(order, s.Job)
		at[strconv.FormatInt(s.Job, 10)] = s.At
	}
	return order, at
}

func goldenPlan(t *testing.T, c goldenCase, o goldenOptions) {
	in := input[struct {
		Now int64
		goldenCluster
	}](t, c)
	in.Accepted = in.Jobs
	b, err := in.open(in.Now, o)
	if errors.Is(err, timetable.ErrInfeasible) {
		compare(t, c.ID, c.Expect, map[string]any{"feasible": false})
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	order, at := starts(b.(*timetable.Book).Plan(nil))
	compare(t, c.ID, c.Expect, map[string]any{"feasible": true, "order": order, "starts": at})
}

// report is a quote as the cases show it.
func report(q timetable.Quote, o goldenOptions) map[string]any {
	if !q.Feasible {
		return map[string]any{"feasible": false}
	}
	zeta := q.Zeta
	if o.ZetaScope == "all" {
		zeta = q.ZetaAll
	}
	reading := map[string]timetable.Reading{"cumulative": timetable.Cumulative, "instant": timetable.Instant, "committed": timetable.Committed}[o.Util]
	return map[string]any{
		"feasible": true, "start": q.Start, "completion": q.Completion, "zeta": zeta,
		"utilization": q.Utilization(reading).String(),
	}
}

func goldenFit(t *testing.T, c goldenCase, o goldenOptions) {
	in := input[struct {
		Now     int64
		Cluster goldenCluster
		New     goldenJob
	}](t, c)
	b, err := in.Cluster.open(in.Now, o)
	if err != nil {
		t.Fatal(err)
	}
	q := b.Quote(in.Now, in.New.job().Job)
	got := report(q, o)
	if _, ok := c.Expect["starts"]; ok {
		plan, err := b.PlanIf(&q, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, got["starts"] = starts(plan)
	}
	compare(t, c.ID, c.Expect, got)
}

func goldenMatch(t *testing.T, c goldenCase, o goldenOptions) {
	in := input[struct {
		Now      int64
		Clusters []goldenCluster
		New      goldenJob
		Draws    []uint64
		Pointer  int `json:"nf_pointer"`
	}](t, c)
	var window []matchmaking.Seller
	var reports []any
	j := in.New.job().Job
	for _, g := range in.Clusters {
		b, err := g.open(in.Now, o)
		if err != nil {
			t.Fatal(err)
		}
		window = append(window, b)
		reports = append(reports, report(b.Quote(in.Now, j), o))
	}
	choice := make(map[string]any)
	var wanted map[string]any
	if err := json.Unmarshal(c.Expect["choice"], &wanted); err != nil {
		t.Fatal(err)
	}
	for alg := range wanted {
		draws := in.Draws
		if len(draws) == 0 {
			draws = make([]uint64, len(window))
		}
		choice[alg] = nil
		if got, ok := o.matchmaker(t, alg, draws, in.Pointer).Match(in.Now, j, window); ok {
			choice[alg] = got.Seller
		}
	}
	compare(t, c.ID, c.Expect, map[string]any{"reports": reports, "choice": choice})
}

func goldenTogether(t *testing.T, c goldenCase, o goldenOptions) {
	in := input[struct {
		Now        int64
		Earliest   int64 `json:"earliest_start"`
		Deadline   int64
		Components [][2]int64
		Clusters   []goldenCluster
		Step       int64
		Alg        string
	}](t, c)
	var window []matchmaking.Venue
	for _, g := range in.Clusters {
		b, err := g.open(in.Now, o)
		if err != nil {
			t.Fatal(err)
		}
		window = append(window, b)
	}
	order := matchmaking.Order{ID: 1 << 40, Arrival: in.Now, Earliest: in.Earliest, Deadline: in.Deadline, Step: in.Step}
	for _, part := range in.Components {
		order.Parts = append(order.Parts, matchmaking.Part{Nodes: int(part[0]), Estimate: part[1]})
	}
	if order.Arrival > order.Earliest {
		order.Arrival = order.Earliest
	}
	if in.Alg == "" {
		in.Alg = "MLI"
	}
	pick := o.matchmaker(t, in.Alg, nil, 0)
	if in.Alg == "MLI" {
		m, err := matchmaking.New("mli", decoder(matchmaking.ImpactOptions{Scope: o.ZetaScope, Scale: o.ZetaScale, Ties: "index"}), nil)
		if err != nil {
			t.Fatal(err)
		}
		pick = m
	}
	choices, ok := matchmaking.Together(in.Now, order, window, pick)
	got := map[string]any{"feasible": ok}
	if ok {
		var clusters []int
		var zeta []int64
		for _, ch := range choices {
			clusters = append(clusters, ch.Seller)
			zeta = append(zeta, report(ch.Quote, o)["zeta"].(int64))
		}
		got["start"], got["clusters"], got["zeta"] = choices[0].Quote.Start, clusters, zeta
	}
	compare(t, c.ID, c.Expect, got)
}

func goldenNodes(t *testing.T, c goldenCase, _ goldenOptions) {
	in := input[struct {
		LastEnd []int64 `json:"last_end"`
		Free    []int32
		Need    int
	}](t, c)
	ids := timetable.Choose(in.LastEnd, in.Free, in.Need)
	slices.Sort(ids)
	compare(t, c.ID, c.Expect, map[string]any{"nodes": ids})
}

// numbers are metrics as the cases show them.
func numbers(m Metrics) map[string]any {
	return map[string]any{
		"jobs": m.Jobs, "rejected": m.Rejected, "late": m.Late, "killed": m.Killed, "W_R": m.WR, "P_b": m.PB, "Q": m.Q,
		"U": m.U, "U_min": m.UMin, "U_max": m.UMax, "R_OD": m.ROD, "R_AR": m.RAR, "P_b_AR": m.PBAdvance, "W_R_AR": m.WRAdvance,
	}
}

func goldenMetrics(t *testing.T, c goldenCase, _ goldenOptions) {
	in := input[struct {
		Nodes    []int
		End      int64 `json:"t_end"`
		Outcomes []goldenJob
	}](t, c)
	var outcomes []Outcome
	for _, g := range in.Outcomes {
		o := Outcome{Job: g.job(), Status: Status(g.Status), Cluster: -1, Start: g.Start, End: g.End}
		if g.Cluster != nil {
			o.Cluster = *g.Cluster
		}
		switch {
		case o.Status != "":
		case o.Cluster < 0:
			o.Status = Rejected
		case o.End > o.Deadline:
			o.Status = Late
		default:
			o.Status = Done
		}
		outcomes = append(outcomes, o)
	}
	compare(t, c.ID, c.Expect, numbers(Measure(in.Nodes, outcomes, Window{0, in.End})))
}

func goldenSimulate(t *testing.T, c goldenCase, o goldenOptions) {
	in := input[struct {
		Clusters   []goldenCluster
		Jobs       []goldenJob
		Algorithms []string
		Draws      []uint64
	}](t, c)
	var jobs []Job
	for _, j := range in.Jobs {
		jobs = append(jobs, j.job())
	}
	for _, alg := range in.Algorithms {
		config := Config{Matchmaker: o.matchmaker(t, alg, in.Draws, 0), Preempt: o.Preempt}
		if o.ODMap != "same" {
			config.OnDemand = o.matchmaker(t, o.ODMap, in.Draws, 0)
		}
		if o.ODDeadline != nil {
			config.OnDemandFactor = *o.ODDeadline
		}
		var nodes []int
		for _, g := range in.Clusters {
			config.Clusters = append(config.Clusters, g.config(o))
			nodes = append(nodes, g.Nodes)
		}
		outcomes, err := Run(config, jobs)
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Jobs    map[string]map[string]json.RawMessage
			Metrics map[string]json.RawMessage
		}
		if err := json.Unmarshal(c.Expect[alg], &want); err != nil {
			t.Fatal(err)
		}
		for i := range outcomes {
			out := &outcomes[i]
			zeta := out.Zeta
			if o.ZetaScope == "all" {
				zeta = out.ZetaAll
			}
			got := map[string]any{
				"status": out.Status, "cluster": out.Cluster, "zeta": zeta, "start": out.Start, "end": out.End,
				"initial_start": out.InitialStart, "initial_completion": out.InitialCompletion, "node_ids": out.NodeIDs,
			}
			if out.Status == Rejected {
				got = map[string]any{"status": Rejected, "cluster": nil}
			}
			compare(t, fmt.Sprintf("%s %s job %d", c.ID, alg, out.ID), want.Jobs[strconv.FormatInt(out.ID, 10)], got)
		}
		m := Measure(nodes, outcomes, Measured(outcomes))
		compare(t, c.ID+" "+alg, want.Metrics, numbers(m))
		checkIdentity(t, m)
	}
}

// checkIdentity checks that Q = W_R / (100 P_b), or undefined if none was
// rejected.
func checkIdentity(t *testing.T, m Metrics) {
	t.Helper()
	if (m.Q == nil) != (m.Rejected == 0) {
		t.Errorf("Q = %v with %d rejected", m.Q, m.Rejected)
	}
	if m.Q != nil && math.Abs(*m.Q-m.WR/(100*m.PB)) > 1e-9**m.Q {
		t.Errorf("Q = %v, W_R/(100 P_b) = %v", *m.Q, m.WR/(100*m.PB))
	}
}
