package experiments

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/workloadgen"
)

// TestLicences checks licences of the whole market with results computed by hand. There are two
// licences, and each costs at least $0.36 an hour, or $0.0001/s. Jobs 1 and 2 hold them on
// different hosts until 30 s and 31 s, so no licence is free for job 3. Job 4 needs no licence.
// Job 5 arrives after the end of job 1. Job 6 bids half of the floor price. Job 7 has two
// nodes, but holds only two licences. Job 8 requests more licences than exist. A job alone on
// its host pays the floor price, 30 s x $0.0001/s. Job 7 pays this for each of its two nodes.
func TestLicences(t *testing.T) {
	t.Parallel()
	plan := filepath.Join(t.TempDir(), "plan.csv")
	text := `id,arrival,runtime,deadline,nodes,value,count.matlab
1,0,30,60,1,1,1
2,1,30,60,1,1,1
3,2,30,60,1,1,1
4,3,30,60,1,1,0
5,30,30,60,1,1,1
6,200,30,60,1,0.003,1
7,300,30,60,2,1,2
8,400,30,60,1,1,3
`
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file := func(licences, floors string) string {
		return fmt.Sprintf(`
name: licences
replications: 1
base:
  fleet: {hosts: 4, cpus: 8, cap: 1, floor_per_hour: %s}
  workload: {plan: %s}
  market: {bidding: cheapest, licences: %s}
  admission: [be]
configurations: [{name: one}]
`, floors, plan, licences)
	}
	e := parsed(t, file("{matlab: 2}", "{matlab: 0.36}"))
	sets, err := settings(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	err = newWorkspace().each(t.Context(), e, sets, &Replication{}, Options{}, func(_ int, run *Run) error {
		for i := range run.Jobs {
			got = append(got, fmt.Sprint(run.Jobs[i].Reason, run.Jobs[i].Contract.Paid))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "0.003000|0.003000|no licence0.000000|0.000000|0.003000|below the floor0.000000|0.006000|no licence0.000000"
	if strings.Join(got, "|") != want {
		t.Errorf("jobs %q, want %q", strings.Join(got, "|"), want)
	}
	for _, c := range []struct{ licences, floors, want string }{
		{"{gpu: 2}", "{cpu: 1}", "market.licences: found gpu, want names other than those of resources of hosts"},
		{"{matlab: -1}", "{cpu: 1}", "market.licences: found matlab: -1, want 0 to"},
		{"{matlab: 1}", "{matlab: -1}", "floor_per_hour: found matlab: -1, want a price of 0 to 1e6"},
		{"{matlab: 1}", "{tape: 1}", "floor_per_hour: found tape: 1"},
	} {
		if _, err := settings(parsed(t, file(c.licences, c.floors)), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("licences %s, floors %s: error %v, want %q", c.licences, c.floors, err, c.want)
		}
	}
}

// licencesLaw checks that the jobs of a run never held more licences than the market has. A job holds
// them from its admission to its end.
func (run *toldRun) licencesLaw() error {
	units := func(j *workloadgen.Job, name string) int {
		if j.Needs == nil {
			return 0
		}
		return j.Needs.Counts[name]
	}
	for name, most := range run.set.conf.Market.Licences {
		for i := range run.Jobs {
			j, sum := &run.Jobs[i], 0
			if !j.Admitted() || units(j.Job, name) == 0 {
				continue
			}
			for k := range run.Jobs {
				o := &run.Jobs[k]
				if o.Admitted() && o.Contract.Admitted <= j.Contract.Admitted && j.Contract.Admitted < o.Contract.Ended {
					sum += units(o.Job, name)
				}
			}
			if sum > most {
				return fmt.Errorf("%d units of licence %s are held at %v, want at most %d", sum, name, j.Contract.Admitted, most)
			}
		}
	}
	return nil
}
