package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"bourse/experiments/misuse"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/workloadgen/swf"
)

// A Chosen identifies one run of an experiment.
type Chosen struct {
	Configuration *scenario.Configuration
	Admission     string // label of the policy
	Replication   int
}

// String returns the path of the run, which is the same as in ledger directories.
func (r Chosen) String() string {
	return fmt.Sprintf("%s/%s/%d", r.Configuration.Name, r.Admission, r.Replication)
}

// ChooseRun returns the run at path. The path has the form
// configuration/admission/replication. An empty path selects the first replication. It is
// valid only if there is a single configuration with a single policy.
func ChooseRun(e *scenario.Experiment, path string) (Chosen, error) {
	var names []string
	for i := range e.Configurations {
		conf := &e.Configurations[i]
		for _, a := range conf.Admission {
			name := conf.Name + "/" + a.Label
			names = append(names, name+"/0")
			rep, ok := strings.CutPrefix(path, name+"/")
			if n, err := strconv.Atoi(rep); ok && err == nil && n >= 0 && n < e.Replications {
				return Chosen{conf, a.Label, n}, nil
			}
		}
	}
	if path == "" && len(names) == 1 {
		return Chosen{&e.Configurations[0], e.Configurations[0].Admission[0].Label, 0}, nil
	}
	found := "none"
	if path != "" {
		found = strconv.Quote(path)
	}
	most := min(8, len(names))
	more := ""
	if most < len(names) {
		more = fmt.Sprintf(" and %d more", len(names)-most)
	}
	return Chosen{}, misuse.Errorf("found %s, want one of %s%s; replications are numbered from 0 to %d",
		found, strings.Join(names[:most], ", "), more, e.Replications-1)
}

// Schedule returns the job log that was run, with the times and outcomes of the run in dir.
func (r Chosen) Schedule(dir *results.Dir, log *swf.Trace) (*swf.Trace, error) {
	slots, err := r.slots(dir)
	if err != nil {
		return nil, err
	}
	fleet := &r.Configuration.Fleet
	return log.Schedule(slots, int64(fleet.Processors()), "as scheduled by bourse: "+r.String(),
		"submit time, wait, run time, allocated processors and status are from this run"), nil
}

// slots returns the start and end times of the jobs in the run, by job number.
func (r Chosen) slots(dir *results.Dir) (map[int64]swf.Slot, error) {
	slots := make(map[int64]swf.Slot)
	goesOn := r.Configuration.SLA.RunsOn || r.Configuration.SLA.Deadline == "soft"
	for j, err := range dir.Jobs(func(replication int) bool { return replication == r.Replication }, nil) {
		if err != nil {
			return nil, err
		}
		if j.Configuration != r.Configuration.Name || j.Admission != r.Admission || j.Replication != r.Replication {
			continue
		}
		id, err := strconv.ParseInt(j.Job, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("jobs.parquet: job %q: want a number", j.Job)
		}
		user, err := strconv.ParseInt(j.User, 10, 64)
		if err != nil {
			user = swf.Unknown
		}
		s := swf.Slot{Submit: j.Arrival, Nodes: j.Nodes, User: user}
		if j.Start != nil && j.Finish != nil {
			s.Started, s.Start, s.End = true, *j.Start, *j.Finish
			s.Completed = *j.Fulfilled || goesOn && (j.Losses == nil || *j.Losses == 0)
		}
		slots[id] = s
	}
	return slots, nil
}
