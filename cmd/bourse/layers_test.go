package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bourse/bank/overlaytest"
	"bourse/experiments"
)

// may lists, for each package, the packages that it may import. A path with "/..." includes all
// packages inside. "/*" stands for any unlisted package inside. "-" before an element forbids
// it even if a later element allows it. A package that is not listed may import only packages
// inside its own base package.
var may = map[string]string{
	"experiments/papers/*":      "experiments/report experiments/results",
	"experiments/papers/claims": "experiments/results experiments/stats",

	"bank/canonical":      "",
	"bank/pinned":         "",
	"bank/store":          "bank bank/canonical bank/owners bank/pinned",
	"bank/export":         "bank bank/canonical bank/store bank/audit",
	"bank/opening":        "bank",
	"bank/wire":           "",
	"bank/peers":          "",
	"bank/service":        "bank bank/export bank/keys bank/order bank/owners bank/peers bank/proof bank/store bank/wire",
	"contracts":           "bank hosts hosts/availability market",
	"contracts/admission": "contracts contracts/bidding hosts market market/clearing",
	"contracts/policies":  "contracts contracts/admission/... contracts/bidding",

	"contracts/admission/booked":  "contracts contracts/admission contracts/bidding hosts/eventheap market market/clearing",
	"contracts/admission/cleared": "contracts contracts/admission contracts/bidding hosts market market/clearing",
	"contracts/admission/libra":   "contracts contracts/admission contracts/bidding contracts/sharing hosts",
	"contracts/admission/mixed":   "contracts contracts/admission contracts/bidding hosts",
	"contracts/admission/queue":   "contracts contracts/admission contracts/bidding contracts/sharing hosts hosts/eventheap hosts/availability hosts/availability/sched market market/clearing",
	"contracts/admission/reserve": "contracts contracts/admission contracts/bidding hosts hosts/eventheap hosts/matchmaking hosts/timetable",

	"contracts/admission/policytest": "bank contracts contracts/bidding contracts/broker contracts/sharing hosts hosts/availability hosts/sim market", // code that tests share

	"contracts/admission/outside": "bank contracts contracts/admission contracts/bidding contracts/note hosts hosts/availability market",
	"contracts/admission/script":  "contracts contracts/admission contracts/admission/outside contracts/bidding hosts market",

	"contracts/bidding":        "contracts hosts market",
	"contracts/sharing":        "contracts hosts market",
	"contracts/floor":          "contracts contracts/sharing hosts hosts/eventheap hosts/availability market",
	"contracts/settlement":     "bank contracts",
	"contracts/note":           "bank contracts hosts",
	"contracts/memo":           "",
	"contracts/order":          "bank bank/order contracts hosts/remote",
	"contracts/broker":         "bank contracts contracts/floor contracts/note contracts/settlement contracts/sharing hosts hosts/eventheap hosts/availability market",
	"experiments/des":          "",
	"experiments/program":      "contracts/admission/outside hosts hosts/confine",
	"experiments/stats":        "",
	"experiments/advise":       "experiments/misuse experiments/report experiments/results experiments/stats",
	"experiments/contrast":     "experiments/misuse experiments/results experiments/stats",
	"experiments/trail":        "bank contracts/note experiments/report experiments/results",
	"experiments/optimum":      "market/packing workloadgen",
	"experiments/results":      "",
	"experiments/scenario":     "",
	"experiments/metrics":      "contracts experiments/stats workloadgen",
	"experiments/report":       "experiments/results experiments/stats",
	"experiments/statement":    "bank bank/export bank/order contracts/note experiments/report",
	"experiments/verify":       "bank/audit bank/canonical experiments/results experiments/scenario workloadgen/byid",
	"experiments/audits":       "bank/audit bank/place bank/store bank/tiles experiments/misuse experiments/recovered experiments/report experiments/results experiments/scenario experiments/verify",
	"experiments/misuse":       "",
	"experiments/verdicts":     "experiments/contrast",
	"experiments/live":         "bank/... contracts/... experiments/des experiments/live/wire experiments/misuse experiments/scenario hosts hosts/availability hosts/availability/traces hosts/link hosts/remote market market/forecast workloadgen",
	"experiments/live/wire":    "",
	"experiments/live/batch":   "",
	"experiments/live/usage":   "bank",
	"experiments/live/lab":     "bank bank/...",
	"experiments/live/metrics": "bank/store experiments/live",
	"experiments/live/page":    "experiments/live experiments/live/client",
	"experiments/live/service": "bank bank/... contracts/order contracts/settlement experiments/live experiments/live/wire hosts hosts/link hosts/remote",
	"experiments/cluster":      "bank/whole experiments experiments/misuse experiments/publication experiments/results experiments/slurm",
	"experiments/whatif":       "bank contracts contracts/admission contracts/policies experiments experiments/advise experiments/catalog experiments/metrics experiments/misuse experiments/papers experiments/report experiments/scenario experiments/stats workloadgen",
	"experiments/catalog":      "contracts/admission contracts/policies experiments experiments/misuse experiments/papers experiments/report experiments/results experiments/scenario workloadgen/swf",
	"experiments/publication":  "bank bank/store experiments experiments/advise experiments/catalog experiments/contrast experiments/metrics experiments/misuse experiments/papers experiments/recovered experiments/report experiments/results experiments/scenario experiments/stats experiments/trail experiments/verdicts",
	"experiments/study":        "contracts contracts/broker experiments experiments/metrics experiments/misuse experiments/papers experiments/publication experiments/report experiments/results experiments/scenario experiments/stats hosts market market/forecast workloadgen/swf",
	"experiments/live/client":  "bank bank/keys bank/order bank/whole contracts/order experiments/live experiments/live/service experiments/misuse hosts hosts/link hosts/remote",
	"experiments/papers":       "experiments/metrics experiments/misuse experiments/papers/... experiments/report experiments/results experiments/scenario",
	"experiments":              "-experiments/catalog -experiments/live/... -experiments/publication -experiments/study -experiments/whatif bank/... contracts/... experiments/... hosts/... market market/forecast workloadgen/...",
	"cmd/bourse":               "bank/... contracts/... experiments/... hosts/... market market/clearing workloadgen/...",
}

// ground lists the base packages, which must not import each other.
var ground = []string{"bank", "market", "hosts", "workloadgen"}

// leafRooms are packages that mention no concept of the module and import no packages of it
// except earlier leaves. Every package may import a leaf, including the base packages.
var leafRooms = []string{"bank/certificate", "bank/exact", "bank/whole", "workloadgen/plugin", "workloadgen/config"}

// TestLayers checks that every package imports only what the plan allows. Imports go only to
// lower layers, and the base packages do not import each other.
func TestLayers(t *testing.T) {
	t.Parallel()
	rooms, faults := forbidden(t)
	for _, fault := range faults {
		t.Error(fault)
	}
	if rooms < 10 {
		t.Fatalf("saw %d rooms", rooms)
	}
}

// TestPlantedImports checks that each forbidden import is found if it is added to a package.
func TestPlantedImports(t *testing.T) {
	t.Parallel()
	planted := []struct{ room, to string }{
		{"bank/store", "bank/order"},
		{"contracts/admission", "contracts/admission/libra"},
		{"contracts/broker", "contracts/memo"},
		{"contracts/floor", "hosts/availability/predictors"},
		{"experiments", "experiments/live"},
		{"market", "bank/keys"},
	}
	texts := make(map[string]string)
	for _, p := range planted {
		file, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(p.room), "planted.go"))
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = "package " + path.Base(p.room) + "\n\nimport _ \"bourse/" + p.to + "\"\n"
	}
	_, faults := forbidden(t, "-e", "-overlay", overlaytest.Write(t, texts))
	for _, p := range planted {
		if !slices.Contains(faults, p.room+" imports "+p.to) {
			t.Errorf("%s may import %s", p.room, p.to)
		}
	}
	if len(faults) != len(planted) {
		t.Errorf("of %d imports planted was seen: %v", len(planted), faults)
	}
}

// forbidden returns the number of packages that go list finds with the given flags, and
// their forbidden imports.
func forbidden(t *testing.T, flags ...string) (rooms int, faults []string) {
	t.Helper()
	args := append([]string{"list", "-f", `{{.ImportPath}} {{join .Imports " "}}`}, flags...)
	out, err := exec.Command("go", append(args, "bourse/...")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		room := strings.TrimPrefix(f[0], "bourse/")
		rooms++
		for _, imp := range f[1:] {
			if to, ours := strings.CutPrefix(imp, "bourse/"); ours && !allowed(room, to) {
				faults = append(faults, room+" imports "+to)
			}
		}
	}
	return rooms, faults
}

// allowed reports whether package room may import package to.
func allowed(room, to string) bool {
	if from, leaf := slices.Index(leafRooms, room), slices.Index(leafRooms, to); from >= 0 || leaf >= 0 {
		return leaf >= 0 && (from < 0 || leaf < from)
	}
	list, listed := may[room]
	for !listed && strings.Contains(room, "/") {
		parent := room[:strings.LastIndex(room, "/")]
		top, _, _ := strings.Cut(room, "/")
		if slices.Contains(ground, top) {
			// Packages may import any package inside their own base package.
			return to == top || strings.HasPrefix(to, top+"/")
		}
		if list, listed = may[parent+"/*"]; !listed {
			list, listed = may[parent]
		}
		room = parent
	}
	for _, a := range strings.Fields(list) {
		a, not := strings.CutPrefix(a, "-")
		if base, deep := strings.CutSuffix(a, "/..."); a == to || deep && (to == base || strings.HasPrefix(to, base+"/")) {
			return !not
		}
	}
	return false
}

// TestAllowed checks that the plan permits and forbids given imports.
func TestAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		room, to string
		want     bool
	}{
		{"market", "hosts", false},
		{"market", "workloadgen/plugin", true},
		{"workloadgen/config", "workloadgen/plugin", true},
		{"workloadgen/plugin", "workloadgen/config", false},
		{"market", "workloadgen/dist", false},
		{"workloadgen/annotate", "bank/exact", true},
		{"hosts/link", "bank/certificate", true},
		{"hosts/link", "bank/keys", false},
		{"bank/whole", "bank/keys", false},
		{"workloadgen/config", "workloadgen", false},
		{"workloadgen/config", "workloadgen/dist", false},
		{"bank", "contracts", false},
		{"bank/audit", "bank/store", true},
		{"bank/store", "bank/order", false},
		{"bank/audit", "experiments/verify", false},
		{"experiments/verify", "contracts/sharing", false},
		{"hosts/sim", "hosts/eventheap", true},
		{"hosts/sim", "market", false},
		{"hosts/agent", "hosts/linux", true},
		{"hosts/agent", "bank", false},
		{"hosts/slurm", "hosts/agent", true},
		{"hosts/slurm", "market", false},
		{"hosts/wire", "bank", false},
		{"contracts/admission", "contracts/broker", false},
		{"contracts/admission", "contracts/admission/libra", false},
		{"contracts/admission/libra", "contracts/admission/queue", false},
		{"contracts/broker", "contracts/admission", false},
		{"contracts/broker", "workloadgen", false},
		{"contracts/floor", "bank", false},
		{"contracts/floor", "contracts/settlement", false},
		{"contracts/settlement", "market", false},
		{"contracts/note", "contracts/broker", false},
		{"experiments/des", "contracts", false},
		{"experiments/papers/market", "experiments/metrics", false},
		{"experiments/papers/market", "experiments/papers/mine", false},
		{"experiments/papers/mine", "experiments/report", true},
		{"experiments/papers/claims", "experiments/report", false},
		{"experiments", "workloadgen/models", true},
		{"experiments", "experiments/live", false},
		{"experiments", "experiments/live/lab", false},
		{"experiments", "experiments/advise", true},
		{"experiments", "experiments/whatif", false},
		{"experiments/whatif", "experiments/live", false},
		{"contracts/floor", "hosts/availability/predictors", false},
		{"contracts/floor", "hosts/availability", true},
		{"contracts/floor", "hosts/availability/traces", false},
	} {
		if got := allowed(c.room, c.to); got != c.want {
			t.Errorf("%s may import %s: %v, want %v", c.room, c.to, got, c.want)
		}
	}
}

// TestCoreAlone checks that core packages do not import packages for copying memory, keys
// or signed orders.
func TestCoreAlone(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", append([]string{"list", "-deps"}, prefixed(core)...)...).Output()
	if err != nil || strings.Contains(string(out), "starlark") {
		t.Errorf("the core imports Starlark, or cannot be listed: %v", err)
	}
	for _, room := range core {
		for _, to := range []string{"contracts/memo", "bank/keys", "bank/order", "bank/owners", "contracts/order"} {
			if allowed(room, to) {
				t.Errorf("%s may import %s", room, to)
			}
		}
	}
}

// prefixed returns the import paths of packages of this module.
func prefixed(rooms []string) (paths []string) {
	for _, room := range rooms {
		paths = append(paths, "bourse/"+room)
	}
	return paths
}

// TestNoNames checks the packages that run, display and report experiments. Neither their
// imports nor their strings may name a paper, a policy or a way of choosing hosts.
func TestNoNames(t *testing.T) {
	t.Parallel()
	var files []string
	for _, room := range []string{"../../experiments", "../../experiments/report", "."} {
		found, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, slices.DeleteFunc(found, func(f string) bool { return strings.HasSuffix(f, "_test.go") })...)
	}
	if len(files) < 60 {
		t.Errorf("%d files read", len(files))
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range named(f) {
			if file == "slurm.go" && fault == `"partition"` {
				continue // Slurm uses this word, too
			}
			if fault == `"slices"` && slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == fault }) {
				continue // this is also the name of a package
			}
			t.Errorf("%s: %s", file, fault)
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "planted.go", `package planted
import "bourse/experiments/papers/market"
var best = map[string]int{"be": 1, `+"`mli`"+`: 2, "best": 3}
`, 0)
	if got := strings.Join(named(f), ", "); err != nil || got != `"bourse/experiments/papers/market", "be", `+"`mli`" {
		t.Errorf("of what was planted %s was seen: %v", got, err)
	}
}

// named returns the strings in f that name a policy, a way of choosing hosts, or a paper.
func named(f *ast.File) (found []string) {
	var names []string
	for _, family := range []string{"admission", "predictor", "scheduler", "matchmaking"} {
		names = append(names, experiments.NamesOf(family)...)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "class" || name == "script" || name == "program" }) // these words have other meanings, too
	ast.Inspect(f, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			if s, err := strconv.Unquote(text.Value); err == nil && (slices.Contains(names, s) || strings.HasPrefix(s, "bourse/experiments/papers/")) {
				found = append(found, text.Value)
			}
		}
		return true
	})
	return found
}

// marketWords are terms of packages on which the bank must not depend. Database servers are
// called hosts, too.
var marketWords = regexp.MustCompile(`(?i)(auction|share|bid|host)`)

// TestBankWords checks that no name in the bank refers to auctions, shares, bids or hosts.
func TestBankWords(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir("../../bank", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/postgres/") {
			return err
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name != "MaxIdleConnsPerHost" && marketWords.MatchString(id.Name) { // MaxIdleConnsPerHost is a field of net/http
				t.Errorf("%s: %s", path, id.Name)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 40 {
		t.Fatalf("%d files read: %v", files, err)
	}
	for word, want := range map[string]bool{"shareOf": true, "NewBid": true, "hosts": true, "balance": false} {
		if marketWords.MatchString(word) != want {
			t.Errorf("%s is of the market: %v, want %v", word, !want, want)
		}
	}
}

// clocked lists the packages below the kernel that may read a clock, start goroutines or
// take locks, because they use a disk, a network or real machines.
var clocked = []string{"bank/certificate", "bank/peers", "bank/service", "bank/store", "bank/teller", "bank/tiles", "bank/witness", "hosts/agent", "hosts/link", "hosts/linux", "hosts/slurm"}

// atomics is the file that may use sync/atomic: the guard of a script, which limits its time and
// memory from another goroutine, changes what the script checks between operations.
const atomics = "contracts/admission/script/script.go"

// TestTimeIsTold checks the other packages below the kernel. They must not read the clock,
// use the global source of randomness, start goroutines or take locks.
func TestTimeIsTold(t *testing.T) {
	t.Parallel()
	seen := 0
	root := filepath.Join("..", "..")
	for _, room := range append(slices.Clone(ground), "contracts") {
		err := filepath.WalkDir(filepath.Join(root, room), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if d.IsDir() && slices.Contains(clocked, filepath.ToSlash(name)) {
				return filepath.SkipDir
			}
			if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			seen++
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
			if err != nil || ast.IsGenerated(f) {
				return err
			}
			for _, fault := range told(set, f) {
				if name == atomics && strings.HasSuffix(fault, `"sync/atomic"`) {
					continue
				}
				t.Error(fault)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 10 {
		t.Fatalf("read %d files", seen)
	}
}

// banned lists the functions that read the clock or use the global source of randomness.
var banned = map[string]string{
	"time": "Now Since Until Sleep After AfterFunc Tick NewTicker NewTimer",
	"rand": "Float64 Float32 IntN Int Int32 Int64 Int64N Uint32 Uint64 Uint64N N Perm Shuffle NormFloat64 ExpFloat64",
}

// told returns the places in f that read the clock, draw random numbers, start a goroutine or
// take a lock.
func told(set *token.FileSet, f *ast.File) (faults []string) {
	fault := func(at token.Pos, what string) { faults = append(faults, set.Position(at).String()+": "+what) }
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			fault(n.Pos(), "starts a goroutine")
		case *ast.ImportSpec:
			if p := n.Path.Value; p == `"sync"` || p == `"sync/atomic"` {
				fault(n.Pos(), "imports "+p)
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if ok && x.Obj == nil && slices.Contains(strings.Fields(banned[x.Name]), n.Sel.Name) {
				fault(n.Pos(), "calls "+x.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
	return faults
}

// TestTold checks that each kind of violation is found if it is added to a file.
func TestTold(t *testing.T) {
	t.Parallel()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "planted.go", `package planted
import ("sync"; "time"; "math/rand/v2")
var mu sync.Mutex
func f() { go f(); _ = time.Now(); _ = rand.IntN(3); mu.Lock() }
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := told(set, f)
	for _, want := range []string{"starts a goroutine", `imports "sync"`, "calls time.Now", "calls rand.IntN"} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, want) }) {
			t.Errorf("planted %q was not seen in %v", want, got)
		}
	}
}
