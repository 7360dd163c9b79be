package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bourse/bank/overlaytest"

	"golang.org/x/tools/txtar"
)

// A recipe describes a plug-in to add: files for a package (mine.go, or the files of an
// archive) and a line for the package's table. The line is inserted before the line that begins
// with first.
type recipe struct{ room, table, first, file, line string }

// withRecipes returns an overlay for the go command: the source tree with the given
// plug-ins. It also works if the source tree already contains one of them.
func withRecipes(t *testing.T, recipes ...recipe) string {
	t.Helper()
	texts := make(map[string]string)
	for _, r := range recipes {
		room, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(r.room)))
		if err != nil {
			t.Fatal(err)
		}
		table := []byte(texts[filepath.Join(room, r.table)]) // table to which the line of another plug-in may have been added
		if len(table) == 0 {
			if table, err = os.ReadFile(filepath.Join(room, r.table)); err != nil {
				t.Fatal(err)
			}
		}
		key := regexp.QuoteMeta(regexp.MustCompile(`^\s*("[^"]*": |\w+,|\w+\(\),|\{Name: "[^"]*")`).FindString(r.line))
		rest := string(regexp.MustCompile(`(?m)^`+strings.ReplaceAll(key, ": ", `:\s+`)+`.*\n`).ReplaceAll(table, nil))
		if strings.Count(rest, r.first) != 1 {
			t.Fatalf("found no table in %s/%s", r.room, r.table)
		}
		files := txtar.Parse([]byte(r.file)).Files
		if files == nil {
			files = []txtar.File{{Name: "mine.go", Data: []byte(r.file)}}
		}
		for _, f := range files {
			texts[filepath.Join(room, filepath.FromSlash(f.Name))] = string(f.Data)
		}
		texts[filepath.Join(room, r.table)] = strings.Replace(rest, r.first, r.line+r.first, 1)
	}
	return overlaytest.Write(t, texts)
}

// aPolicy returns the recipe of an additional admission policy.
func aPolicy(file, line string) recipe {
	return recipe{"contracts/admission", "admission.go", "\t\"be\": ", file, line}
}

// TestPlugged runs the tests that need a program with more plug-ins. It builds this program
// once, with the policy of docs/own-policy.md, a policy that panics, and a plug-in of each
// of several other families.
func TestPlugged(t *testing.T) {
	t.Parallel()
	policy, scenario := policyPage(t)
	all := append(recipes(), policy, aPolicy("-- planted.go --\n"+planted, "\t\"planted\": {Doc: \"panics\", New: newPlanted, Properties: Properties{Sharing: \"auction\"}},\n"))
	program := filepath.Join(t.TempDir(), "bin", "bourse")
	if testing.Short() {
		gocmd(t, "vet", "-overlay", withRecipes(t, all...), "bourse/contracts/admission", "bourse/hosts/matchmaking", "bourse/contracts/broker", "bourse/experiments/metrics", "bourse/experiments/papers", "bourse/cmd/bourse")
		return
	}
	gocmd(t, "build", "-ldflags", "-s -w", "-overlay", withRecipes(t, all...), "-o", program, "bourse/cmd/bourse")
	t.Run("PolicyPage", func(t *testing.T) {
		gocmd(t, "test", "-short", "-overlay", withRecipes(t, policy), "bourse/contracts/admission")
		runPolicyPage(t, program, scenario)
	})
	t.Run("Recipes", func(t *testing.T) { runRecipes(t, program) })
	t.Run("Crash", func(t *testing.T) { runCrash(t, program) })
}

// gocmd runs the go command with the given arguments.
func gocmd(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// policyPage returns the policy that docs/own-policy.md shows how to add, as pasted (a file
// and a line), and the scenario that the page runs.
func policyPage(t *testing.T) (policy recipe, scenario string) {
	t.Helper()
	page, err := os.ReadFile("docs/own-policy.md")
	if err != nil {
		t.Fatal(err)
	}
	var code []string
	for _, b := range blocksIn(string(page)) {
		text := strings.Join(b.lines, "\n") + "\n"
		switch {
		case b.is("go"):
			code = append(code, text)
		case b.is("yaml"):
			scenario = text
		}
	}
	if len(code) != 2 {
		t.Fatalf("found %d blocks of Go, want a policy and its line", len(code))
	}
	return aPolicy(code[0], code[1]), scenario
}

// runPolicyPage checks that the policy of docs/own-policy.md compiles, that the tests of
// its package pass with it, and that the program runs the page's scenario.
func runPolicyPage(t *testing.T, bourse, scenario string) {
	page, err := os.ReadFile("docs/own-policy.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "frugal.yaml"), []byte(scenario), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range consoles(string(page), "console", "policy") {
		args, ok := strings.CutPrefix(c.command, "go run ./cmd/bourse ")
		if !ok {
			continue
		}
		cmd := exec.Command(bourse, strings.Fields(args)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C.UTF-8")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", c.command, err)
		}
		if missing, ok := follows(strings.Split(strings.TrimRight(string(out), "\n"), "\n"), c.output); !ok {
			t.Errorf("docs/own-policy.md:%d: %s: does not print %q where it is shown; it prints\n%s", c.line, c.command, missing, out)
		}
	}
}

// recipes returns a matchmaker, a payment rule, a metric and a command, each with a new
// file and a line, and a paper, with a folder and a line.
func recipes() []recipe {
	return []recipe{
		{"hosts/matchmaking", "matchmaking.go", "\t\t\"ff\": ", `package matchmaking

import "bourse/hosts/timetable"

// LastFit takes the last seller that can take the job.
type LastFit struct{}

// Match implements [Matchmaker].
func (LastFit) Match(now int64, j timetable.Job, window []Seller) (c Choice, ok bool) {
	for i, s := range window {
		if q := s.Quote(now, j); q.Feasible {
			c, ok = Choice{i, q}, true
		}
	}
	return c, ok
}
`, "\t\t\"lf\": {\"the last cluster that can take it\", plugin.Is[Matchmaker](LastFit{})},\n"},
		{"contracts/broker", "payment.go", "\t\t\"bid\": ", `package broker

import "bourse/market"

// half charges half of the bid.
func half(_ float64, own, _, _ market.Rate) float64 { return own.Float64() / 2 }
`, "\t\t\"half\": {\"b/2: half of the bid\", plugin.Is(Payment{Term: half})},\n"},
		{"experiments/metrics", "metrics.go", "\tViolations,\n", `package metrics

// Asked is the number of jobs.
var Asked = Metric{
	Name: "asked",
	Unit: "jobs",
	Doc:  "jobs that were submitted",
	Of:   func(o *Outcome) (float64, bool) { return float64(len(o.Jobs)), true },
}
`, "\tAsked,\n"},
		{"experiments/papers", "papers.go", "\t{Name: \"librarisk\"", `-- mine/figure1.yaml --
name: mine-figure1
title: Jobs of two sizes
seed: 1
replications: 2
figure: {metrics: [utilization]}
sweep: [{path: workload.model.nodes, values: [1, 2], label: nodes}]
base: {fleet: {hosts: 3, cpus: 4}, workload: {model: {name: exponential, jobs: 20}, annotate: {budget: 100}}, admission: [be]}
configurations: [{name: small}]
-- mine/claims.yaml --
name: mine
title: "Anonymous, A Claim About Size"
claims:
  - id: "1"
    quote: wider jobs use more of the hosts
    section: §1
    margin: 0.005
    source: half of the last digit printed
    rows:
      - [utilization, be, mine-figure1/small along nodes, higher, 0]
-- mine/reference.yaml --
labels: {be: Best effort}
`, "\t{Name: \"mine\", Swept: true},\n"},
		{"cmd/bourse", "app.go", "\t\t\tcontrastCommand(),\n", `package main

import (
	"fmt"

	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

var sizeCommand = command("size RESULTS\nprint how often an experiment was repeated", func(c *cli.Context, _ *none) error {
	dir, err := results.Open(c.Args().First())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: %d replications\n", dir.Path, dir.Manifest.Replications)
	return err
})
`, "\t\t\tsizeCommand(),\n"},
	}
}

// runRecipes checks the program with these recipes. The program must list the plug-ins, run a
// scenario that names them, test the paper's claims and have the new command.
func runRecipes(t *testing.T, bourse string) {
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(bourse, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("bourse %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	listed := run("policies")
	for _, name := range []string{"lf", "half", "asked"} {
		if !strings.Contains(listed, "\n  "+name+" ") {
			t.Errorf("bourse scenario options does not list %s", name)
		}
	}
	const scenario = `name: recipes
replications: 2
base: {fleet: {hosts: 3, cpus: 4}, workload: {model: {name: exponential, jobs: 20}, annotate: {budget: 100}}}
configurations:
  - {name: market, market: {payment: half}, admission: [be]}
  - {name: books, market: {sharing: planned, payment: budget}, workload: {annotate: {reservations: {}}}, admission: [{name: reserve, match: lf}, {name: reserve, match: ff, label: ff}]}
figure: {metrics: [asked]}
`
	if err := os.WriteFile(filepath.Join(dir, "recipes.yaml"), []byte(scenario), 0o644); err != nil {
		t.Fatal(err)
	}
	run("run", "recipes.yaml", "--quiet")
	if out := run("show", "tables", "results/recipes"); strings.Count(out, "20.000 ") != 3 {
		t.Errorf("want 20 jobs asked for under each policy, in\n%s", out)
	}
	run("run", "--preset", "mine", "--replications", "20")
	if out := run("show", "tables", "results/mine/figure1"); !strings.Contains(out, "Best effort") {
		t.Errorf("want a column of Best effort, as the paper writes it, in\n%s", out)
	}
	if out := run("claims", "results/mine/figure1"); !strings.HasPrefix(out, "Anonymous, A Claim About Size\nClaims: as registered (mine-figure1)\nSUPPORTED      1  §1 ") {
		t.Errorf("want the claim of the paper supported, in\n%s", out)
	}
	if out, want := run("size", "results/mine/figure1"), "results/mine/figure1: 20 replications\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
}
