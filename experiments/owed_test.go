package experiments

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/experiments/metrics"
)

// TestUtilityOwed checks that utility is eq. 1 of the SLA paper where the provider cannot pay: three
// jobs of $1 and $1 per second of delay, which end 0, 1000 and 1010 s late, come to
// 1 + (1 - 1000) + (1 - 1010) dollars. The provider has the $3 that the users had, so $2005 of the
// $2008 owed beyond the prices is missing, to two users; a penalty that it can pay misses nothing.
func TestUtilityOwed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		funds string
		want  float64
		note  string
	}{
		{"", -2007, "$2005.000000 of the penalties owed was not paid, to 2 users"},
		{"1500", -2007, "$508.000000 of the penalties owed was not paid, to 1 user "},
		{"2008", -2007, ""},
	} {
		plan := filepath.Join(t.TempDir(), "plan.csv")
		if err := os.WriteFile(plan, []byte("id,user,arrival,runtime,nodes,value,deadline,penalty_rate\n1,1,0,1000,1,1,1000,1\n2,2,0,10,1,1,10,1\n3,3,0,10,1,1,10,1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		text := `
name: owed
replications: 1
figure: {metrics: [utility]}
configurations:
  - name: one
    fleet: {hosts: 1, cpus: 1}
    workload: {plan: ` + plan + `}
    market: {sharing: exclusive, payment: budget}
    sla: {enforcement: per-host, deadline: soft, of: plan}
    admission: [fcfs]
`
		if c.funds != "" {
			text += "    provider: {funds: " + c.funds + "}\n"
		}
		e := parsed(t, text)
		s := newStudy(e)
		if err := Each(t.Context(), e, Options{Workers: 1}, func(r *Replication) error {
			if got, _ := metrics.UtilityAchieved.Of(&r.Runs[0].Outcome); got != c.want {
				t.Errorf("provider with $%s: utility %v, want %v", c.funds, got, c.want)
			}
			found := []float64{r.unproven()}
			for _, run := range r.Runs {
				found = s.measure(run, found)
			}
			s.add(r.Configuration, found)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		notes := s.told()
		if c.note == "" && slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "not paid") }) || !strings.Contains(strings.Join(notes, "\n"), c.note) {
			t.Errorf("provider with $%s: %q, want %q", c.funds, notes, c.note)
		}
	}
}
