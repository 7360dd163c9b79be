package reservations

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"bourse/hosts/timetable"
)

var (
	jobColumns     = []string{"id", "kind", "arrival", "earliest_start", "deadline", "runtime", "estimate", "nodes"}
	outcomeColumns = []string{"id", "kind", "nodes", "cluster", "zeta", "initial_start", "initial_completion", "start", "end", "status"}
)

// MaxJobs is the most jobs that [ReadJobs] accepts.
const MaxJobs = 10_000_000

// ReadJobs reads a list of jobs from CSV with the columns id, kind (AR or OD),
// arrival, earliest_start, deadline (empty for none), runtime, estimate and
// nodes, all but kind whole numbers. An error names the line and the field.
func ReadJobs(r io.Reader) ([]Job, error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	header, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("jobs: no header: %w", err)
	}
	if !slices.Equal(header, jobColumns) {
		return nil, fmt.Errorf("jobs: line 1: columns %q, want %q", strings.Join(header, ","), strings.Join(jobColumns, ","))
	}
	var jobs []Job
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return jobs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("jobs: %w", err)
		}
		line, _ := c.FieldPos(0)
		j, err := parseJob(record)
		if err != nil {
			return nil, fmt.Errorf("jobs: line %d: %w", line, err)
		}
		if len(jobs) == MaxJobs {
			return nil, fmt.Errorf("jobs: line %d: more than %d jobs", line, MaxJobs)
		}
		jobs = append(jobs, j)
	}
}

// parseJob reads the fields of one job.
func parseJob(record []string) (Job, error) {
	var j Job
	var nodes int64
	for i, into := range []*int64{&j.ID, nil, &j.Arrival, &j.Earliest, &j.Deadline, &j.Runtime, &j.Estimate, &nodes} {
		field := record[i]
		switch {
		case into == nil:
			switch field {
			case "AR":
				j.Kind = timetable.Advance
			case "OD":
				j.Kind = timetable.OnDemand
			default:
				return j, fmt.Errorf("kind %q, want AR or OD", field)
			}
		case into == &j.Deadline && field == "":
			j.Deadline = timetable.Forever
		default:
			v, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return j, fmt.Errorf("%s %q, want a whole number", jobColumns[i], field)
			}
			*into = v
		}
	}
	// Out of the range of int on any machine is out of the job's own range.
	j.Nodes = int(min(max(nodes, 0), timetable.MaxNodes+1))
	if err := j.validate(); err != nil {
		return j, err
	}
	return j, nil
}

// validate returns an error that names the field at fault, if there is one.
func (j *Job) validate() error {
	if err := j.Validate(); err != nil {
		return err
	}
	if j.Runtime < 1 || j.Runtime > timetable.Horizon {
		return fmt.Errorf("job %d: runtime %d, want 1 to %d", j.ID, j.Runtime, int64(timetable.Horizon))
	}
	return nil
}

// WriteJobs writes jobs as [ReadJobs] reads them.
func WriteJobs(w io.Writer, jobs []Job) error {
	c := csv.NewWriter(w)
	if err := c.Write(jobColumns); err != nil {
		return err
	}
	for i := range jobs {
		j := &jobs[i]
		deadline := ""
		if j.Deadline != timetable.Forever {
			deadline = whole(j.Deadline)
		}
		err := c.Write([]string{whole(j.ID), j.Kind.String(), whole(j.Arrival), whole(j.Earliest), deadline, whole(j.Runtime), whole(j.Estimate), strconv.Itoa(j.Nodes)})
		if err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// WriteOutcomes writes what became of jobs as CSV with the columns id, kind,
// nodes, cluster, zeta (over reservations), initial_start, initial_completion,
// start, end and status. A rejected job has empty fields from cluster to end.
func WriteOutcomes(w io.Writer, outcomes []Outcome) error {
	c := csv.NewWriter(w)
	if err := c.Write(outcomeColumns); err != nil {
		return err
	}
	for i := range outcomes {
		o := &outcomes[i]
		record := []string{whole(o.ID), o.Kind.String(), strconv.Itoa(o.Nodes), "", "", "", "", "", "", string(o.Status)}
		if o.Status != Rejected {
			record[3] = strconv.Itoa(o.Cluster)
			for k, v := range []int64{o.Zeta, o.InitialStart, o.InitialCompletion, o.Start, o.End} {
				record[4+k] = whole(v)
			}
		}
		if err := c.Write(record); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func whole(v int64) string { return strconv.FormatInt(v, 10) }
