package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

var firstHour = flag.Bool("firsthour", false, "time what a new user does first, by script, and print the table")

// sweepFile is the file of a sweep, as a new user would write it.
const sweepFile = `name: fleet
replications: 3
sweep: [{path: fleet.hosts, values: [10, 15, 20], label: hosts}]
base:
  fleet: {cpus: 2}
  workload: {model: {name: paper, jobs: 20}}
  admission: [be, cac]
configurations: [high]`

// TestFirstHour performs the first steps that the pages show to a new user, each in an empty
// directory. It prints the number of commands of each step and their duration, without the
// build. Each command must succeed.
func TestFirstHour(t *testing.T) {
	if !*firstHour {
		t.Skip("it takes minutes: -firsthour does it")
	}
	all := pages(t)
	page := func(topic string, kinds ...string) (commands []string, files []block) {
		for _, b := range blocksIn(all["cmd/bourse/docs/"+topic+".md"]) {
			switch {
			case len(b.words) > 1 && strings.Contains(b.words[1], "."):
				files = append(files, b)
			case b.is("console"):
				for _, kind := range kinds {
					if strings.Join(b.words[1:], " ") == kind {
						commands = append(commands, each(b.commands(), func(s shown) string { return s.command })...)
					}
				}
			}
		}
		return commands, files
	}
	readme := consoles(all["README.md"], "console")[0].command
	log, logFiles := page("own-log", "")
	explained, _ := page("explain", "")
	tables, tableFiles := page("reading", "", "duckdb")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tcommands typed\tfiles written\tseconds")
	for _, do := range []struct {
		what     string
		commands []string
		files    []block
		needs    string
	}{
		{what: "first figure", commands: []string{readme}},
		{what: "hosts and load changed", commands: []string{"bourse run --hosts 30 --load 1.2 --policy be,cac -n 5"}},
		{what: "sweep with plot", commands: []string{
			"bourse run sweep.yaml",
			"bourse plot results/fleet --x hosts --y efficiency_1 --color policy --format svg,pdf",
		}, files: []block{{words: []string{"", "sweep.yaml"}, lines: strings.Split(sweepFile, "\n")}}},
		{what: "comparison", commands: []string{"bourse run", "bourse compare results/paper --baseline cac"}},
		{what: "audit", commands: []string{"bourse run", "bourse ledger audit results/paper"}},
		{what: "own plan", commands: []string{
			"bourse workload generate paper > plan.csv",
			"bourse scenario new --name mine --hosts 15x2 --jobs plan.csv --policies be,cac --repeat 3 mine.yaml",
			"bourse run mine.yaml",
		}},
		{what: "own log", commands: log, files: logFiles},
		{what: "rejected job explained", commands: explained[:2]},
		{what: "own policy", commands: []string{
			"bourse policy new mine", "bourse policy test mine.star", "bourse policy check mine.star --markets 30",
			"bourse run mine.yaml -n 5",
		}},
		{what: "results in DuckDB", commands: tables[:2], files: tableFiles[:1], needs: needs["duckdb"]},
	} {
		if do.needs != "" && exec.Command("sh", "-c", do.needs).Run() != nil {
			fmt.Fprintf(w, "%s\tnot tried: %s fails\n", do.what, do.needs)
			continue
		}
		dir := t.TempDir()
		for _, f := range do.files {
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(f.words[1])), []byte(strings.Join(f.lines, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		for _, command := range do.commands {
			command = strings.Replace(command, "go run ./cmd/bourse ", "bourse ", 1)
			c := exec.Command("sh", "-c", command)
			c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C.UTF-8", "BOURSE_HOME="+filepath.Join(dir, ".home"))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v: %s", do.what, command, err, out)
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\n", do.what, len(do.commands), len(do.files), time.Since(began).Seconds())
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
