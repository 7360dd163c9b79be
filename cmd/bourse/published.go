package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"bourse/bank/audit"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/verify"
)

// published returns what the results in path publish beside each of the ledgers in
// dirs, nil if path is a ledger: the rows of the tables of jobs and prices, and the rules
// that charges follow from.
func published(path string, dirs []string) ([]*verify.Run, error) {
	runs := make([]*verify.Run, len(dirs))
	if len(dirs) == 1 && dirs[0] == path {
		return runs, nil
	}
	r, err := openResults(path)
	if err != nil {
		return nil, err
	}
	e, err := experimentOf(r)
	if err != nil {
		return nil, err
	}
	e = e.Expanded()
	at := make(map[string]*verify.Run)
	for i, dir := range dirs {
		run, err := filepath.Rel(filepath.Join(path, "ledger"), dir)
		if err != nil {
			return nil, err
		}
		run = filepath.ToSlash(run)
		runs[i] = &verify.Run{Rules: rulesOf(&e, run)}
		at[run] = runs[i]
	}
	var unread []audit.Finding
	cannot := func(file string, err error) {
		unread = append(unread, audit.Finding{File: file, Found: err.Error(), Want: "a table that can be read"})
	}
	for p, err := range r.Prices() {
		if err != nil {
			cannot("prices.parquet", err)
			break
		}
		if run := at[fmt.Sprintf("%s/%s/%d", p.Configuration, p.Admission, p.Replication)]; run != nil {
			run.Prices = append(run.Prices, p.MeanPrice)
		}
	}
	rows, err := jobsIn(filepath.Join(path, "jobs.csv"), func(run string) bool { return at[run] != nil })
	if err != nil {
		cannot("jobs.csv", err)
	}
	for run := range at {
		at[run].Jobs, at[run].Unread = rows[run], unread
	}
	return runs, nil
}

// jobsIn returns the rows of the runs that are wanted, by run.
func jobsIn(file string, wanted func(run string) bool) (map[string][]verify.Job, error) {
	f, err := results.OpenFile(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return verify.ReadJobs(f, wanted)
}

// rulesOf returns the rules of a run, "configuration/admission/replication", nil if
// e has no such run.
func rulesOf(e *scenario.Experiment, run string) *verify.Rules {
	for i := range e.Configurations {
		c := &e.Configurations[i]
		for _, a := range c.Admission {
			if !strings.HasPrefix(run, c.Name+"/"+a.Label+"/") {
				continue
			}
			r := &verify.Rules{
				Payment: c.Market.Payment, Sharing: c.Market.Sharing.Name,
				Hosts: c.Fleet.Hosts, CPUs: c.Fleet.CPUs, Cap: c.Fleet.Cap, Speeds: c.Fleet.Speeds,
				Leave: c.Fleet.Availability != nil,
			}
			if c.Horizon != nil {
				r.Horizon = *c.Horizon
			}
			if a.Sharing != nil {
				r.Sharing = a.Sharing.Name
			}
			if len(r.Speeds) == 0 {
				r.Speeds = []float64{c.Fleet.Speed}
			}
			return r
		}
	}
	return nil
}
