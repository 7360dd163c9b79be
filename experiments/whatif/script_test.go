package whatif

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"bourse/experiments"
	"bourse/experiments/scenario"
)

// TestExplainScripts checks that a script that decides like a built-in policy gives the same
// explanations of the jobs of a run. It explains every fifth job, or all 50 jobs if TestExplain
// explains more decisions than usual.
func TestExplainScripts(t *testing.T) {
	t.Parallel()
	jobs, every := int64(50), int64(5)
	if *decisions > usualDecisions {
		every = 1
	}
	for _, name := range []string{"be", "sac", "cac", "rac"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := filepath.Abs("../examples/policies/" + name + ".star")
			if err != nil {
				t.Fatal(err)
			}
			differ := 0
			parsed := func(policy string) *scenario.Experiment {
				e, err := scenario.Parse("a.yaml", fmt.Appendf(nil, "preset: paper\nname: a\nconfigurations: [{name: pareto-high, workload: {model: {jobs: %d}}, admission: [{label: x, %s}]}]\n", jobs, policy), experiments.Known())
				if err != nil {
					t.Fatal(err)
				}
				return &e
			}
			built, script := parsed("name: "+name), parsed("name: script, file: "+file)
			for job := int64(1); job <= jobs; job += every {
				var texts [2]string
				for i, e := range []*scenario.Experiment{built, script} {
					r, err := Explain(t.Context(), e, nil, "pareto-high/x/0", job, 1, false)
					if err != nil {
						t.Fatalf("job %d: %v", job, err)
					}
					text, err := json.Marshal(r)
					if err != nil {
						t.Fatal(err)
					}
					texts[i] = string(text)
				}
				if texts[0] != texts[1] {
					t.Errorf("job %d: the script's explanation is\n%s\nwant\n%s", job, texts[1], texts[0])
					if differ++; differ > 2 {
						return
					}
				}
			}
		})
	}
}
