package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// TestRefusals checks that refusals of the same kind have the same exit status and quote the
// user's input.
func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file("text", []byte("hello\n"))
	for _, name := range []string{"empty", "other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file("other/build.log", []byte("done\n"))
	at := func(call string) []string {
		args := strings.Fields(call)
		for i, a := range args {
			if strings.HasPrefix(a, "./") {
				args[i] = filepath.Join(dir, a)
			}
		}
		return args
	}
	for _, call := range []string{
		"run --preset paper --replications 1 --set workload.model.jobs=20 --quiet --out ./r",
		"bank init ./b", "bank mint ./b user:ann 5 --id one", "bank key ./key --name bank.example",
	} {
		if status, _, errs := bourse(t, t.Context(), at(call)...); status != statusDone {
			t.Fatalf("%s: exit status %d: %s", call, status, errs)
		}
	}
	const ledger = "./r/ledger/pareto-high/cac/0"
	for kind, calls := range map[string]struct {
		status int
		calls  map[string]string // expected text of standard error
	}{
		"no ledger": {statusUsage, forEach(func(where string) map[string]string {
			return map[string]string{
				"ledger show " + where: "found no ledger", "ledger audit " + where: "found no ledger", "ledger export --format csv " + where: "found no ledger",
				"ledger statement --user 1 " + where: "found no ledger", "ledger prove --entry 1 " + where: "found no ledger", "ledger checkpoint --key ./key " + where: "found no ledger",
				"bank balance " + where: "found no ledger", "bank rights " + where: "found no ledger", "bank log " + where: "found no ledger", "bank audit " + where: "found no ledger",
				"bank mint --id x " + where + " user:ann 1": "found no ledger", "bank copy " + where + " ./copy": "found no ledger",
			}
		}, "./missing", "./empty", "./other", "./text")},
		"no results": {statusUsage, forEach(func(where string) map[string]string {
			return map[string]string{
				"plot " + where: "not a results directory", "curve " + where: "not a results directory", "figures " + where: "not a results directory", "compare " + where: "not a results directory",
				"explain --job 1 " + where: "not a results directory", "open " + where: "report.html", "show tables " + where: "not a results directory", "show claims " + where: "not a results directory",
				"show compare " + where: "not a results directory", "show curve " + where: "not a results directory", "show prices " + where: "not a results directory", "show jobs " + where: "not a results directory",
				"study replay --admission cac " + where: "not a results directory", "study advise " + where: "not a results directory", "paper claims " + where: "not a results directory", "run merge " + where: "plan.json",
			}
		}, "./missing", "./empty", "./other", "./text")},
		"no file": {statusUsage, map[string]string{
			"run ./missing": "no such file", "scenario check ./missing": "no such file", "scenario show ./missing": "no such file", "workload describe ./missing": "no such file",
			"workload fit ./missing": "no such file", "workload convert ./missing": "no such file", "workload compare ./missing ./missing": "no such file", "paper readings ./missing": "no such file",
			"ledger verify ./missing": "no such file", "bank verify ./missing": "no such file", "bank sign --key ./key ./missing": "no such file", "bank whoami ./b --key ./missing": "no such file",
			"run ./empty": "is a directory", "scenario check ./empty": "is a directory", "workload describe ./empty": "is a directory", "ledger verify ./empty": "is a directory",
		}},
		"no such name in a ledger": {statusUsage, map[string]string{
			"ledger show " + ledger + " --contract 999": "no contract 999", "ledger show " + ledger + " --account user:999": "user:999", "ledger statement " + ledger + " --user 999": "999",
			"ledger prove " + ledger + " --entry 99999": "entry 99999", "ledger prove ./b --entry 9": "the ledger has 1 entries", "ledger statement ./b --user bob": "bob",
			"bank balance ./b nonsense": "found no entry that names nonsense", "bank balance ./b user:an --json": "found no entry that names user:an",
		}},
		"no such name in results": {statusUsage, map[string]string{
			"explain ./r --run pareto-high/cac/0 --job 999": "--job: found 999", "explain ./r --run pareto-high/cca/0 --job 1": "--run: found", "explain ./r --job 1": "--run: found none",
			"plot ./r --y profit": "--y: found", "plot ./r --x profit": "--x: found", "plot ./r --facet profit": "--facet: found", "compare ./r --metric profit": "--metric: unknown", "compare ./r --baseline cca": "--baseline: found",
			"study replay ./r --run pareto-high/cac/9 --admission be": "--run: found", "study replay ./r --run pareto-high/cac/0 --admission cca": "--admission: found \"cca\", did you mean cac?",
		}},
		"no such name in a scenario": {statusUsage, map[string]string{
			"run --preset papr": "--preset: found", "run --policy cca": "--policy cca: ", "run --set papr:fleet.hosts=3": "no element papr", "run --set fleet.host=3": "--set fleet.host=3: ", "run --until profit=0.1": "--until profit=0.1: ",
			"study incentives --configuration papr": "--configuration: found", "scenario options papr": "found \"papr\"", "docs papr": "found \"papr\"", "docs --search zqzq": "no page", "workload generate papr": "unknown workload model",
		}},
		"wrong value": {statusUsage, map[string]string{
			"run --replications 0": "--replications: found \"0\"", "workload generate paper -n 0": "-n: found 0", "workload generate paper -n -3": "-n: found -3", "workload compare paper lublin --jobs 0": "--jobs: found 0", "run -n 0": "--replications: found \"0\"", "run --hosts 0": "--hosts: found \"0\"", "run --hosts 99999999999": "--hosts 99999999999: ", "run --load x": "--load: found \"x\"", "run --seed -1": "--seed: found \"-1\"",
			"run --workers 0": "--workers: found 0", "run --tables x": "--tables: found \"x\"", "run --shard 3/2": "--shard: found \"3/2\"", "study incentives --users none": "want a whole number from 1, or all",
			"ledger export ./b --format x": "--format: found \"x\"", "plot ./r --format x": "--format: found \"x\"", "bank mint ./b user:ann x --id q": "amount \"x\"", "bank transfer ./b user:ann user:bob -1 --id q": "write -- before",
		}},
		"taken": {statusUsage, map[string]string{
			"bank init ./b": "already exists", "bank init ./r": "not empty", "bank copy ./b " + ledger: "already exists", "bank copy ./b ./text": "exists", "bank key ./key": "exists", "run --out ./b --replications 1": "not a results directory",
		}},
		"no account of a person": {statusUsage, forEach(func(name string) map[string]string {
			return map[string]string{"bank mint ./b " + name + " 1 --id m": "account", "bank transfer ./b user:ann " + name + " 1 --id m": "account"}
		}, "mint", "escrow:1", "Ann", "user:", "user::ann", ":ann", "x/y", "ünï", "../b")},
		"refused by the bank": {statusFailed, map[string]string{
			"bank transfer ./b user:bob user:ann 1 --id t": "insufficient funds", "bank transfer ./b user:ann user:bob 1 --id one": "id was used",
		}},
	} {
		for call, want := range calls.calls {
			status, out, errs := bourse(t, t.Context(), at(call)...)
			if status != calls.status || !strings.Contains(errs, want) || strings.Contains(errs, "pebble") || strings.Count(errs, "\n") > 3 {
				t.Errorf("%s: bourse %s: exit status %d, want %d and %q: %s", kind, call, status, calls.status, want, errs)
			}
			if strings.Contains(out, "BAD") {
				t.Errorf("%s: bourse %s prints %s", kind, call, out)
			}
		}
	}
}

// forEach returns the calls that the function of returns for each name.
func forEach(of func(string) map[string]string, names ...string) map[string]string {
	all := make(map[string]string)
	for _, name := range names {
		for call, want := range of(name) {
			all[call] = want
		}
	}
	return all
}

// TestWrongInputs checks that an invalid plan or log is reported with the correct kind of
// file and its line.
func TestWrongInputs(t *testing.T) {
	t.Parallel()
	const plan = "id,arrival,runtime,nodes\n1,0,10,1\n2,5,10,1\n"
	const record = "1 0 0 50 1 -1 -1 1 100 -1 1 1 1 1 1 -1 -1 -1\n"
	zipped := func(text string, cut int) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()[:b.Len()-cut]
	}
	var wide bytes.Buffer
	for _, unit := range append([]uint16{0xfeff}, utf16.Encode([]rune(plan))...) {
		binary.Write(&wide, binary.LittleEndian, unit)
	}
	for what, c := range map[string]struct {
		plan string
		want []string
	}{
		"semicolons":     {strings.ReplaceAll(plan, ",", ";"), []string{":1", "separated by ';', want commas"}},
		"UTF-16":         {wide.String(), []string{"UTF-16"}},
		"truncated gzip": {zipped(plan, 10), []string{"gzip"}},
		"a short row":    {plan + "3,9\n", []string{":4", "2", "4"}},
		"a duplicate id": {plan + "2,9,10,1\n", []string{":4", "2", "which line 3 has too"}},
		"no columns":     {"", []string{":1", "found nothing"}},
		"no number":      {plan + "3,9,x,1\n", []string{":4", "runtime", "\"x\""}},
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, "plan.csv")
		if err := os.WriteFile(name, []byte(c.plan), 0o644); err != nil {
			t.Fatal(err)
		}
		scenario := "name: own\nreplications: 1\nbase:\n  fleet: {hosts: 4}\n  workload: {plan: " + name + ", annotate: {price: 0.01}}\n  admission: [be]\nconfigurations: [{name: a}]\n"
		if err := os.WriteFile(filepath.Join(dir, "own.yaml"), []byte(scenario), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"scenario", "check", filepath.Join(dir, "own.yaml")}, {"workload", "describe", name}} {
			status, _, errs := bourse(t, t.Context(), args...)
			if status != statusUsage || strings.Count(errs, "\n") > 3 {
				t.Errorf("%s: %s %s: exit status %d: %s", what, args[0], args[1], status, errs)
			}
			for _, want := range append(c.want, name) {
				if !strings.Contains(errs, want) {
					t.Errorf("%s: %s %s: found no %q in %s", what, args[0], args[1], want, errs)
				}
			}
		}
	}
	for what, c := range map[string]struct{ log, want string }{
		"truncated gzip": {zipped(strings.Repeat(record, 100), 10), "gzip"},
		"no log":         {"a;b\n", "not a log"},
		"empty":          {"", "log"},
	} {
		name := filepath.Join(t.TempDir(), "log.swf")
		if err := os.WriteFile(name, []byte(c.log), 0o644); err != nil {
			t.Fatal(err)
		}
		if status, _, errs := bourse(t, t.Context(), "workload", "describe", name); status != statusUsage || !strings.Contains(errs, name) || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit status %d: %s", what, status, errs)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if status, _, errs := bourse(t, ctx, "study", "incentives", "--users", "all", "--configuration", "pareto-high", "--replications", "1", "--set", "workload.model.jobs=2"); status != statusDone {
		t.Errorf("incentives --users all: exit status %d: %s", status, errs)
	}
}

// TestCheckWarns checks the warnings of 'scenario check' and their counts: jobs wider than
// the fleet, a log wider than the fleet, and deadlines below the runtime.
func TestCheckWarns(t *testing.T) {
	t.Parallel()
	const plan = "id,arrival,runtime,nodes,deadline,value\n1,0,10,1,20,1\n2,5,10,9,20,1\n3,6,10,1,4,1\n4,7,10,9,5,1\n"
	const log = "; MaxProcs: 64\n1 0 0 50 1 -1 -1 1 100 -1 1 1 1 1 1 -1 -1 -1\n2 5 0 50 1 -1 -1 1 100 -1 1 2 1 1 1 -1 -1 -1\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plan.csv": plan, "log.swf": log,
		"plan.yaml": "name: p\nreplications: 1\nbase:\n  fleet: {hosts: 4}\n  workload: {plan: " + filepath.Join(dir, "plan.csv") + "}\n  admission: [be]\nconfigurations: [{name: a}]\n",
		"log.yaml":  "name: l\nreplications: 1\nbase:\n  fleet: {hosts: 4}\n  workload: {swf: " + filepath.Join(dir, "log.swf") + ", annotate: {price: 0.01}}\n  admission: [be]\nconfigurations: [{name: a}]\n",
		"pack.yaml": "name: l\nreplications: 1\nbase:\n  fleet: {hosts: 32}\n  workload: {swf: " + filepath.Join(dir, "log.swf") + ", annotate: {price: 0.01, sizes: {rule: pack}}}\n  admission: [easy, libra, queue]\nconfigurations: [{name: a}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		"plan.yaml": {"warning: a: 2 of 4 jobs can never run", "warning: a: 2 of 4 jobs have a deadline below their runtime"},
		"log.yaml":  {"warning: a: the log is from a machine with 64 processors, but the fleet has 8"},
		"pack.yaml": {"warning: a: sizes: {rule: pack} has no effect under libra, queue, where each node of a job has its own host. It has an effect under conservative, drf, easy,"},
	} {
		status, _, errs := bourse(t, t.Context(), "scenario", "check", filepath.Join(dir, name))
		if status != statusDone || strings.Count(errs, "warning: ") != len(want) {
			t.Errorf("%s: exit status %d: %s", name, status, errs)
		}
		for _, w := range want {
			if !strings.Contains(errs, w) {
				t.Errorf("%s: found no %q in %s", name, w, errs)
			}
		}
	}
}
