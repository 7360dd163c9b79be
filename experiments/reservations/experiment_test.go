package reservations

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	"bourse/hosts/timetable"
	"bourse/workloadgen"
)

// TestExperiment checks that an experiment with bank and metrics has the same values as the
// replay of the same jobs, for every metric, with wrong estimates and clusters of different
// speeds.
func TestExperiment(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for seed := range uint64(4) {
		d := demand{jobs: 300, share: 0.7, laxity: 1, inexact: true, nodes: 8, clusters: 4, meanGap: 0.8, speeds: []int64{1000, 700, 1500, 1000}}
		jobs := d.draw(seed)
		e := experiment(t, jobs)
		ready, err := experiments.Prepare(e)
		if err != nil {
			t.Fatal(err)
		}
		err = ready.Each(t.Context(), experiments.Options{}, func(r *experiments.Replication) error {
			for k, run := range r.Runs {
				name := e.Configurations[0].Admission[k].Label
				outcomes := d.run(t, name, jobs)
				m := MeasureAfter([]int{8, 8, 8, 8}, outcomes, len(outcomes)/10)
				late, killed := float64(m.Late), float64(m.Killed)
				for _, c := range []struct {
					metric metrics.Metric
					want   *float64
				}{
					{metrics.RejectedWork, &m.WR}, {metrics.Rejections, &m.PB}, {metrics.RejectedSize, m.Q},
					{metrics.ClusterUtilization, m.U}, {metrics.ClusterLeast, m.UMin}, {metrics.ClusterMost, m.UMax},
					{metrics.ResponseOD, m.ROD}, {metrics.ResponseAR, m.RAR},
					{metrics.RejectedWorkAR, m.WRAdvance}, {metrics.RejectionsAR, m.PBAdvance},
					{metrics.Late, &late}, {metrics.Killed, &killed},
				} {
					got, ok := c.metric.Of(&run.Outcome)
					want := math.NaN()
					if c.want != nil {
						want = *c.want
					}
					if ok != (c.want != nil) || math.Abs(got-want) > 1e-9*math.Abs(want) {
						t.Errorf("seed %d, %s: %s = %v, defined %v, want %v", seed, name, c.metric.Name, got, ok, want)
					}
					if ok && got > 0 {
						seen[c.metric.Name] = true
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []metrics.Metric{metrics.RejectedWork, metrics.Late, metrics.Killed, metrics.ResponseOD} {
		if !seen[m.Name] {
			t.Errorf("%s is 0 everywhere: nothing was checked", m.Name)
		}
	}
}

// experiment returns an experiment that runs jobs worth one dollar each on four clusters of
// 8 nodes, under the matchmakers that do not use random numbers.
func experiment(t *testing.T, jobs []Job) *scenario.Experiment {
	var plan workloadgen.Plan
	for _, j := range jobs {
		job := workloadgen.Job{
			ID: j.ID, Arrival: float64(j.Arrival), Runtime: float64(j.Runtime), Estimate: float64(j.Estimate), Nodes: j.Nodes,
			Lead: float64(j.Earliest - j.Arrival), OnDemand: j.Kind == timetable.OnDemand, Deadline: 1e6, Value: 1,
		}
		if !job.OnDemand {
			job.Deadline = float64(j.Deadline - j.Arrival)
		}
		plan = append(plan, job)
	}
	file := filepath.Join(t.TempDir(), "plan.csv")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := workloadgen.WriteCSV(f, plan); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`name: replay
replications: 1
base:
  fleet: {hosts: 4, cpus: 8, speed: 1, cap: 0, speeds: [1, 0.7, 1.5, 1]}
  workload: {warmup: 0.1, plan: %s}
  market: {sharing: planned, payment: budget}
  sla: {enforcement: per-host, deadline: hard}
configurations:
  - name: c
    admission:
`, file)
	for _, name := range []string{"mli", "ff", "nf", "imct", "minu", "maxu"} {
		text += fmt.Sprintf("      - {name: reserve, label: %s, match: %s}\n", name, name)
	}
	e, err := scenario.Parse("replay", []byte(text), experiments.Known())
	if err != nil {
		t.Fatal(err)
	}
	return &e
}
