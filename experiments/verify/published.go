package verify

import (
	"fmt"
	"path/filepath"
	"strings"

	"bourse/bank/audit"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// Published returns what the results in r, of experiment e, publish of each run,
// "configuration/admission/replication": its rows of the tables of jobs and prices, and
// the rules that charges follow from. A table that cannot be read is a finding.
func Published(r *results.Dir, e scenario.Experiment, runs []string) []*Run {
	e = e.Expanded()
	all := make([]*Run, len(runs))
	at := make(map[string]*Run)
	for i, run := range runs {
		all[i] = &Run{}
		if c, a := find(&e, run); c != nil {
			all[i].Rules = RulesOf(c, a)
		}
		at[run] = all[i]
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
	rows, err := jobsIn(filepath.Join(r.Path, "jobs.csv"), func(run string) bool { return at[run] != nil })
	if err != nil {
		cannot("jobs.csv", err)
	}
	for run := range at {
		at[run].Jobs, at[run].Unread = rows[run], unread
	}
	return all
}

// jobsIn returns the rows of the runs that are wanted, by run.
func jobsIn(file string, wanted func(run string) bool) (map[string][]Job, error) {
	f, err := results.OpenFile(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadJobs(f, wanted)
}

// find returns configuration and policy of a run, nil if e has no such run.
func find(e *scenario.Experiment, run string) (*scenario.Configuration, *scenario.Choice) {
	for i := range e.Configurations {
		c := &e.Configurations[i]
		for k := range c.Admission {
			if strings.HasPrefix(run, c.Name+"/"+c.Admission[k].Label+"/") {
				return c, &c.Admission[k]
			}
		}
	}
	return nil, nil
}

// RulesOf returns the rules of c under policy a.
func RulesOf(c *scenario.Configuration, a *scenario.Choice) *Rules {
	r := &Rules{
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
