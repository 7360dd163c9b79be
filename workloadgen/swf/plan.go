package swf

import (
	"cmp"
	"fmt"
	"slices"

	"bourse/workloadgen"
)

// Plan turns the log into a work plan:
//
//	id        job number
//	user      user, 0 where unknown
//	arrival   submit time, unchanged
//	runtime   run time
//	estimate  requested time, or the run time where unknown
//	deadline  the run time: a log promises nothing
//	nodes     allocated processors, or requested where unknown
//	worth     1
//
// Everything else is zero: the format has no place for value, class, deadline,
// urgency and penalty. Jobs are put in order of arrival, ties by number.
// Records that never ran, that are parts of a job or that exceed a plan's
// limits are skipped, and of two with one number the second; the accounting of
// the records says how many, its places counting records from 1.
func (t *Trace) Plan() (workloadgen.Plan, Accounting) {
	acc := Accounting{records: true}
	plan := make(workloadgen.Plan, 0, len(t.Records))
	seen := make(map[int64]bool, len(t.Records))
	for i := range t.Records {
		r := &t.Records[i]
		acc.Lines++
		note := func(why Reason) { acc.note(Problem{Reason: why, Line: acc.Lines}) }
		if why, bad := r.refuse(seen); bad {
			note(why)
			acc.Skipped++
			continue
		}
		seen[r.Job] = true
		j := workloadgen.Job{
			ID: r.Job, User: r.User, Arrival: r.Submit, Runtime: r.Run, Estimate: r.ReqTime,
			Deadline: r.Run, Nodes: int(r.Width()), Worth: 1,
		}
		repaired := false
		if r.Procs <= 0 {
			note(ProcsFromRequest)
			repaired = true
		}
		if r.ReqTime <= 0 {
			j.Estimate = r.Run
			note(EstimateFromRun)
			repaired = true
		}
		if r.User < 0 {
			j.User = 0
			note(UserUnknown)
			repaired = true
		}
		if repaired {
			acc.Repaired++
		} else {
			acc.Used++
		}
		plan = append(plan, j)
	}
	slices.SortStableFunc(plan, func(a, b workloadgen.Job) int {
		return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
	return plan, acc
}

// refuse says why a record cannot be a job of a plan.
func (r *Record) refuse(seen map[int64]bool) (Reason, bool) {
	switch {
	case r.Partial():
		return PartOfJob, true
	case !r.Ran():
		return NeverRan, true
	case r.Width() > workloadgen.MaxNodes || max(r.Submit, r.Run, r.ReqTime) > workloadgen.MaxSeconds:
		return TooLarge, true
	case seen[r.Job]:
		return SameNumber, true
	}
	return 0, false
}

// FromPlan returns the plan as a log: id, arrival, runtime, nodes, estimate and
// user. Worth, value, class, deadline, urgency and penalty have no place in the
// format; the header says that they were left out.
func FromPlan(p workloadgen.Plan) *Trace {
	widest := 0
	t := &Trace{Records: make([]Record, len(p))}
	for i, j := range p {
		widest = max(widest, j.Nodes)
		t.Records[i] = Record{
			Job: j.ID, Submit: j.Arrival, Wait: Unknown, Run: j.Runtime, Procs: int64(j.Nodes), CPU: Unknown,
			Memory: Unknown, ReqProcs: int64(j.Nodes), ReqTime: j.Estimate, ReqMemory: Unknown, Status: Completed,
			User: j.User, Group: Unknown, Application: Unknown, Queue: Unknown, Partition: Unknown,
			Preceding: Unknown, Think: Unknown,
		}
	}
	t.Header = Header{
		"; Version: 2.2",
		fmt.Sprintf("; MaxJobs: %d", len(p)),
		fmt.Sprintf("; MaxRecords: %d", len(p)),
		fmt.Sprintf("; MaxProcs: %d", widest),
		"; Note: written from a work plan, whose worth, value, class, deadline, urgency and penalty are not here",
	}
	return t
}
