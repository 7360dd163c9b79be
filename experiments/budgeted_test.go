package experiments

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckDraws checks that the check draws the jobs of a model as a run does: what a
// log cannot give a hundred jobs of, nor a budget, is refused, and so is a plan that
// cannot be drawn.
func TestCheckDraws(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := filepath.Join(dir, "log.swf")
	if err := os.WriteFile(log, []byte("1 0 -1 30 1 -1 -1 1 30 -1 1 1 1 1 1 1 -1 -1\n2 5 -1 30 1 -1 -1 1 30 -1 1 1 1 1 1 1 -1 -1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ workload, want string }{
		{"model: {name: swf, file: " + log + ", jobs: 2, start: random}", "no job has a budget"},
		{"{model: {name: swf, file: " + log + ", jobs: 2, start: random}, annotate: {price: 1}}", ""},
		{"{model: {name: swf, file: " + log + ", jobs: 1}, annotate: {urgency: {sla: true, high: 1, penalty: {low: 1000000, ratio: 1000000}}}}", "beyond a plan's limits"},
	} {
		text := "name: draws\nconfigurations:\n  - name: one\n    admission: [be]\n    workload: "
		if strings.HasPrefix(c.workload, "{") {
			text += c.workload + "\n"
		} else {
			text += "{" + c.workload + "}\n"
		}
		err := Check(parsed(t, text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.workload, err, c.want)
		}
		if strings.Contains(c.want, "budget") && !errors.Is(err, errNoBudget) {
			t.Errorf("%s: %v is another error", c.workload, err)
		}
	}
}
