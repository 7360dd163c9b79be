package reservations

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

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

// A report is a quote in the JSON form of the golden cases.
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
	q := b.Quote(in.Now, in.New.job(o).Job)
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
	j := in.New.job(o).Job
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
	if raw, ok := c.Expect["choice"]; ok {
		if err := json.Unmarshal(raw, &wanted); err != nil {
			t.Fatal(err)
		}
	}
	for alg := range wanted {
		choice[alg] = nil
		m := o.matchmaker(t, alg, in.Draws, in.Pointer)
		if j.Kind == timetable.OnDemand && o.ODMap != "same" {
			m = o.matchmaker(t, o.ODMap, nil, 0)
		}
		if got, ok := m.Match(in.Now, j, window); ok {
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
		Draws      []uint64
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
	if in.Alg == "" {
		in.Alg = "MLI"
	}
	pick := o.matchmaker(t, in.Alg, in.Draws, 0)
	if in.Alg == "MLI" {
		m, err := matchmaking.Table(nil).New("mli", decoder(matchmaking.ImpactOptions{Scope: o.ZetaScope, Scale: o.ZetaScale, Ties: "index"}))
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
	var want []int32 // the order does not matter, because the nodes of a job are a set
	if err := json.Unmarshal(c.Expect["nodes"], &want); err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		t.Errorf("%s: nodes = %v, want %v", c.ID, ids, want)
	}
}

// A numbers contains metrics in the JSON form of the golden cases.
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
		o := Outcome{Job: g.job(goldenOptions{}), Status: Status(g.Status), Cluster: -1, Start: g.Start, End: g.End}
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
		jobs = append(jobs, j.job(o))
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
		e := newEngine(t, config.Clusters, o.options(alg), in.Draws)
		agree(t, c.ID+" "+alg, e.run(t, jobs), outcomes, o.ZetaScope)
		var want struct {
			Jobs    map[string]map[string]json.RawMessage
			Metrics map[string]json.RawMessage
		}
		if raw, ok := c.Expect[alg]; ok {
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
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

// checkIdentity checks that Q = W_R / (100 P_b), or that Q is undefined if no job was
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
