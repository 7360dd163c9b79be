package batch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A golden is one case of a file of the folder that BOURSE_GOLDEN_RESOURCES names, testdata by
// default. The cases come from an independent model.
type golden struct {
	ID     string
	Input  struct{ Text, Script string }
	Expect map[string]any
}

func goldens(t *testing.T, name string, least int) []golden {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("BOURSE_GOLDEN_RESOURCES"), "testdata"), name))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []golden }
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) < least {
		t.Fatalf("%d cases, %v", len(file.Cases), err)
	}
	return file.Cases
}

// TestArrayGolden checks the indices and the throttle of an array, or what is wrong with it.
func TestArrayGolden(t *testing.T) {
	t.Parallel()
	for _, c := range goldens(t, "array.json", 10) {
		indices, throttle, err := Array(c.Input.Text)
		if want, fails := c.Expect["error"].(string); fails {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", c.ID, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		got := map[string]any{"indices": indices, "throttle": throttle}
		if len(indices) > 100 {
			got = map[string]any{"count": len(indices), "first": indices[0], "last": indices[len(indices)-1], "throttle": throttle}
		}
		same(t, c.ID, got, c.Expect)
	}
}

// TestScriptGolden checks the terms of scripts, or what is wrong with them.
func TestScriptGolden(t *testing.T) {
	t.Parallel()
	for _, c := range goldens(t, "sbatch.json", 9) {
		s, err := Script(c.Input.Script)
		if want, fails := c.Expect["error"].(string); fails {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", c.ID, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		got := map[string]any{
			"name": s.Name, "nodes": s.Nodes, "cpus": s.CPUs, "deadline": s.Deadline, "work": s.Work, "budget": s.Budget, "class": s.Class, "memory": s.Memory,
			"gpus": s.GPUs, "licences": s.Licences, "array": s.Array, "project": s.Project, "chdir": s.Chdir, "stdin": s.Stdin, "env": s.Env,
			"requeue": s.Requeue, "after": s.After, "warn": s.Warn,
		}
		maps.DeleteFunc(got, func(_ string, v any) bool {
			r := reflect.ValueOf(v)
			return r.IsZero() || (r.Kind() == reflect.Slice || r.Kind() == reflect.Map) && r.Len() == 0
		})
		same(t, c.ID, got, c.Expect)
	}
}

// same compares values as JSON.
func same(t *testing.T, id string, got, want any) {
	t.Helper()
	a, err := json.Marshal(got)
	b, wrong := json.Marshal(want)
	if err != nil || wrong != nil || string(a) != string(b) {
		t.Errorf("%s: %s, want %s", id, a, b)
	}
}

// TestDirectives checks each form of an option: what it means, and what is refused or ignored.
func TestDirectives(t *testing.T) {
	t.Parallel()
	base := "#!/bin/sh\n#SBATCH -t 10\n"
	for _, c := range []struct{ line, want string }{
		{"#SBATCH -t 1-2", "deadline 93600"}, {"#SBATCH -t 1-2:3", "deadline 93780"}, {"#SBATCH --time 1-2:3:4", "deadline 93784"},
		{"#SBATCH -t2:30", "deadline 150"}, {"#SBATCH -t 0", "value of --time"}, {"#SBATCH -t 1:2:3:4", "value of --time"}, {"#SBATCH -t x", "value of --time"},
		{"#SBATCH --mem 100", "memory 104857600"}, {"#SBATCH --mem=2g", "memory 2147483648"}, {"#SBATCH --mem=x", "value of --mem"}, {"#SBATCH --mem=9999999T", "value of --mem"},
		{"#SBATCH --mem-per-cpu 10 -c 3", "memory 31457280"}, {"#SBATCH --mem=1 --mem-per-cpu=1", "value of --mem-per-cpu"},
		{"#SBATCH -N 2 -n 3", "value of --ntasks"}, {"#SBATCH -N 3 -n 3", "nodes 3"}, {"#SBATCH -N 2 -G 4", "gpus 2"}, {"#SBATCH -N 2 -G 3", "value of --gpus"},
		{"#SBATCH --gres=gpu", "gpus 1"}, {"#SBATCH --gres=gpu:3", "gpus 3"}, {"#SBATCH --gres=gpu:a100", "gpus 1"}, {"#SBATCH --gres=fpga:1", "value of --gres"},
		{"#SBATCH --gpus-per-node=a100:2", "gpus 2"}, {"#SBATCH -L a,a", "value of --licenses"}, {"#SBATCH -c0", "value of --cpus-per-task"},
		{"#SBATCH -d afterok:3:4,afterany:5", "after map[any:[5] ok:[3 4]]"}, {"#SBATCH -d afterok:x", "value of --dependency"}, {"#SBATCH -d afterok", "value of --dependency"},
		{"#SBATCH --signal=B:TERM@20", "warn 20"}, {"#SBATCH --signal=TERM", "value of --signal"}, {"#SBATCH --requeue", "requeue 1"}, {"#SBATCH -A film", "project film"},
		{"#SBATCH --export=ALL,A=b", "ignored [--export=ALL]"}, {"#SBATCH --export=HOME", "value of --export"},
		{"#SBATCH -o out --mail-type=END -p fast --no-requeue", "ignored [-o --mail-type -p --no-requeue]"},
		{"#SBATCH -J", "value of -J"}, {"#SBATCH film", "unknown film"}, {"#SBATCH -J 'a b' # why", "name a b"}, {"#SBATCH -J 'a b", "quote"},
		{"#BOURSE --work 7.5", "work 7.5"}, {"#BOURSE --nodes 2", "unknown --nodes"}, {"#BOURSE --comment x", "unknown --comment"}, {"#BOURSE --work x", "value of --work"},
		{"#SBATCHES -x", "deadline 600"}, {"true\n#SBATCH -x", "deadline 600"},
	} {
		s, err := Script(base + c.line + "\n")
		if err != nil {
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.line, err, c.want)
			}
			continue
		}
		said := []string{
			fmt.Sprint("deadline ", s.Deadline), fmt.Sprint("memory ", s.Memory), fmt.Sprint("nodes ", s.Nodes), fmt.Sprint("gpus ", s.GPUs), fmt.Sprint("after ", s.After),
			fmt.Sprint("warn ", s.Warn), fmt.Sprint("requeue ", s.Requeue), "project " + s.Project, fmt.Sprint("ignored ", s.Ignored), "name " + s.Name, fmt.Sprint("work ", s.Work),
		}
		if !slices.Contains(said, c.want) {
			t.Errorf("%s: %v, want %s", c.line, said, c.want)
		}
	}
}
