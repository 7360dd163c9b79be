package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"bourse/experiments"
	"bourse/experiments/misuse"
	"bourse/experiments/publication"
	"bourse/experiments/report"
	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

// mostRows is the number of rows of the jobs table above which CSV is written only on request.
const mostRows = 1_000_000

// A unitOptions contains the flags that select the units to run and the tables to store.
type unitOptions struct {
	Tables string `doc:"store jobs and prices in {FORM}: both, parquet, csv or none (default: both; parquet for at least a million rows)"`
	Units  bool   `doc:"list the units into which the run can be divided, without running them"`
	Shard  string `doc:"run only part {K/N} of the units (auto/N in a job array); 'bourse run merge' merges the parts"`
	Fresh  bool   `doc:"discard the units of a stopped run, and replace older results"`
}

// tables returns the file formats of the large tables.
func tables(c *cli.Context, ready *experiments.Prepared) (results.Tables, error) {
	if name := c.String("tables"); name != "" {
		t, err := results.ParseTables(name)
		if err != nil {
			return t, usagef("--tables: %w", err)
		}
		return t, nil
	}
	if rows := ready.JobRows(); rows > mostRows {
		note(c, "%d rows of jobs are stored only as Parquet; use --tables both to write CSV, too", rows)
		return results.Parquet, nil
	}
	return results.Both, nil
}

// shard returns the number of this shard, counted from 0, and the number of shards.
func shard(c *cli.Context) (k, n int, err error) {
	if !c.IsSet("shard") {
		return 0, 1, nil
	}
	s := c.String("shard")
	one, all, ok := strings.Cut(s, "/")
	k, err = number(one)
	n, wrong := strconv.Atoi(all)
	if !ok || err != nil || wrong != nil || k < 1 || k > n {
		return 0, 0, usagef("--shard: found %q, want K/N, from 1/N to N/N, or auto/N in a task of an array", s)
	}
	return k - 1, n, nil
}

// number returns the number of a shard, counted from 1. For auto, it is the number assigned
// by the engine.
func number(one string) (k int, err error) {
	if one != "auto" {
		return strconv.Atoi(one)
	}
	if k, err = strconv.Atoi(os.Getenv("JOB_COMPLETION_INDEX")); err == nil { // Kubernetes counts from 0
		return k + 1, nil
	}
	if k, err = strconv.Atoi(os.Getenv("SLURM_ARRAY_TASK_ID")); err != nil {
		return 0, err
	}
	if first, err := strconv.Atoi(os.Getenv("SLURM_ARRAY_TASK_MIN")); err == nil {
		k += 1 - first
	}
	return k, nil
}

// listUnits prints the units of a run.
func listUnits(c *cli.Context, ready *experiments.Prepared) error {
	all := ready.UnitValues()
	if c.Bool("json") {
		return printJSON(c, publication.StudyValues{Warnings: warnings(ready), Overrides: report.List(ready.Experiment.Overrides()), Summary: []results.Summary{}, Curve: []results.Point{}, Units: all})
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "unit\tconfiguration\treplications\tadmission")
	for _, u := range all {
		fmt.Fprintf(w, "%s\t%s\t%d to %d\t%s\n", u.Unit, u.Configuration, u.From, u.To-1, strings.Join(u.Admission, " "))
	}
	return w.Flush()
}

// differs explains how the units in dir differ from the units of this run, and lists the
// possible remedies.
func differs(err error, dir string) error {
	var other *results.OtherError
	if !errors.As(err, &other) {
		return err
	}
	what := fmt.Sprintf("%s contains the results of another run: %s", dir, publication.Difference(&other.Found, &other.Want))
	remedy := "replace these results with --fresh, or write elsewhere with --out"
	if !other.Whole {
		what = fmt.Sprintf("%s contains units of another run: %s", dir, publication.Difference(&other.Found, &other.Want))
		remedy = fmt.Sprintf("finish that run ('%s' with the same --out), discard its units with --fresh, or write elsewhere with --out", strings.Join(other.Found.Command, " "))
	}
	return otherRun{misuse.Errorf("%s; %s", what, remedy), what}
}

// An otherRun is the error for a directory that contains units of another run.
type otherRun struct {
	error
	what string
}

func (e otherRun) Unwrap() error { return e.error }

// standing describes the stored part of the run in dir, which ended with err.
func standing(dir string, err error) error {
	where, wrong := results.Unfinished(dir)
	if wrong != nil {
		return err
	}
	return kept(where, err)
}

// kept describes which units are stored, where they are, and how the user can continue.
func kept(where string, err error) error {
	u, wrong := results.ReadUnits(where)
	if wrong != nil || errors.Is(err, results.ErrBusy) || errors.As(err, new(misuse.Error)) {
		return err
	}
	names, wrong := u.Names()
	if wrong != nil || len(names) == 0 {
		return err
	}
	return unfinished{err, fmt.Sprintf("%d of %d units are stored in %s; repeat the command to continue", len(names), len(u.Plan.Units), where)}
}
