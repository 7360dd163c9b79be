package models

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/workloadgen"
)

// TestResample checks the invariants of each method. Blocks are runs of the log's jobs with the
// log's gaps. Users keep their jobs in the log's order and at the log's hour of the week.
func TestResample(t *testing.T) {
	t.Parallel()
	log := mustPlan(t, "swf", "file: testdata/small.swf", 1, 0)
	find := func(j workloadgen.Job) int {
		return slices.IndexFunc(log, func(l workloadgen.Job) bool {
			return l.Runtime == j.Runtime && l.Nodes == j.Nodes && l.Estimate == j.Estimate
		})
	}
	plan := mustPlan(t, "resample", "{file: testdata/small.swf, jobs: 200, block: 10}", 3, 0)
	if len(plan) != 200 {
		t.Fatalf("%d jobs, want 200", len(plan))
	}
	runs := 0
	for at := 0; at < 200; at += 10 {
		for i := range log[:len(log)-9] {
			same := true
			for k := range 10 {
				p, l := plan[at+k], log[i+k]
				same = same && p.Runtime == l.Runtime && p.Nodes == l.Nodes && p.User == l.User
				if k > 0 {
					gap := p.Arrival - plan[at+k-1].Arrival
					same = same && math.Abs(gap-(l.Arrival-log[i+k-1].Arrival)) < 1e-6
				}
			}
			if same {
				runs++
				break
			}
		}
	}
	if runs != 20 {
		t.Errorf("%d of 20 runs are the log's", runs)
	}
	users := map[int64][]workloadgen.Job{}
	for _, j := range mustPlan(t, "resample", "{file: testdata/small.swf, by: user}", 4, 0) {
		if find(j) < 0 {
			t.Fatalf("job %+v is not the log's", j)
		}
		users[j.User] = append(users[j.User], j)
	}
	if len(users) != 7 {
		t.Errorf("%d users, want the log's 7", len(users))
	}
	for user, jobs := range users {
		of := log[find(jobs[0])].User
		n := 0
		for _, l := range log {
			if l.User == of {
				n++
			}
		}
		if len(jobs) != n {
			t.Errorf("user %d has %d jobs, user %d of the log %d", user, len(jobs), of, n)
		}
	}
	for options, want := range map[string]string{
		"{file: testdata/small.swf, by: job}":     `by: found job`,
		"{file: testdata/small.swf, block: 0}":    "block: found 0",
		"{file: testdata/small.swf, jobs: -1}":    "jobs: found -1",
		"{file: testdata/small.swf, filter: 'x'}": `filter "x"`,
		"{}": "file: found nothing",
	} {
		if _, err := made(t, "resample", options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", options, err, want)
		}
	}
}

// TestFile checks that a model is the same after it is written to a file and read, and that the
// error for an invalid file has its name and the problem, without a delay.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "model.yaml")
	file := File{
		About: []string{"made by hand"}, Model: "independent",
		Options: map[string]any{
			"jobs": 30, "iat": map[string]any{"name": "gamma", "options": map[string]any{"shape": 0.3333333333333333, "scale": 1e-7}},
		},
	}
	var text strings.Builder
	if err := file.Write(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	got := mustPlan(t, "file", "file: '"+name+"'", 2, 0)
	want := mustPlan(t, "independent", "{jobs: 30, iat: {name: gamma, options: {shape: 0.3333333333333333, scale: 0.0000001}}}", 2, 0)
	if !slices.Equal(got, want) {
		t.Errorf("the file's plan is another:\n%s", &text)
	}
	for text, want := range map[string]string{
		"model: poisson":                        `unknown workload model "poisson"`,
		"modle: paper":                          "modle",
		"model: independent\noptions: {job: 1}": "job",
		"model: independent\noptions: {iat: {name: gamma, options: {shape: -1}}}": "shape: found -1",
		"model: file\noptions: {file: x}":                                         "cannot name another",
		strings.Repeat("[", 100):                                                  "not YAML",
		strings.Repeat("[\n", 2000):                                               "not YAML",
		"about: " + strings.Repeat("[", 70) + strings.Repeat("]", 70):             "model.yaml:1:72: nested more than 64 deep",
		"about: [" + strings.Repeat("x,", 1<<20):                                  "more than 1048576 bytes",
		"model: [":                                                                "model.yaml",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := made(t, "file", "file: '"+name+"'"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %s", text, err, want)
		}
	}
	if _, err := made(t, "file", "file: testdata/none.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that there is no file", err)
	}
}
