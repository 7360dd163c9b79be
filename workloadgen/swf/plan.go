package swf

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"bourse/workloadgen"
)

// Plan converts the log to a work plan:
//
//	id        job number
//	user      user, 0 where unknown
//	arrival   submit time, unchanged
//	runtime   run time
//	estimate  requested time, or the run time where unknown
//	deadline  the run time: a log promises nothing
//	nodes     allocated processors, or requested where unknown
//	worth     1
//	after     preceding job, if it comes before this one in the plan; 0 otherwise
//	think     think time, 0 where unknown
//	memory    per node, as m says
//
// Everything else is zero, because the format has no fields for value, class, deadline,
// urgency and penalty. Jobs are in order of arrival, with ties ordered by number. It skips
// records that never ran, that are parts of a job, that exceed a plan's limits, or that repeat
// a job number. The accounting counts records. Their numbers start at 1.
func (t *Trace) Plan(m Memory) (workloadgen.Plan, Accounting) {
	jobs, acc := t.Jobs(m)
	return jobs.Plan(nil), acc
}

// A Memory is the field of a log that provides the memory of a job's nodes. Logs state
// kilobytes of 1024 bytes per processor, and a processor is a node.
type Memory string

// These fields of a log can contain the memory of a job.
const (
	NoMemory  Memory = "none"
	Requested Memory = "request" // requested memory (field 10), or the used memory if it is unknown
	Used      Memory = "used"    // used memory (field 7), or the requested memory if it is unknown
)

// of returns the memory of a node of r, in bytes. If note is true, why is a reason to record in
// the accounting.
func (m Memory) of(r *Record) (bytes float64, why Reason, note bool) {
	first, second, why := r.ReqMemory, r.Memory, MemoryFromUse
	if m == Used {
		first, second, why = second, first, MemoryFromRequest
	}
	switch {
	case first <= 0 && second <= 0:
		return 0, MemoryUnknown, true
	case first <= 0:
		first, note = second, true
	case r.ReqMemory > 0 && r.Memory > r.ReqMemory:
		why, note = MemoryBeyond, true
	}
	return math.Ceil(min(first*1024, workloadgen.MaxAmount)), why, note
}

// Jobs stores the data for the plan of a log in a third of the memory that the plan needs.
type Jobs []job

type job struct {
	id, user                   int64
	arrival, runtime, estimate float64
	nodes                      int
	after                      int64
	think                      float64
	needs                      *workloadgen.Needs
}

// Plan returns the plan of these jobs, reusing the memory of out.
func (jobs Jobs) Plan(out workloadgen.Plan) workloadgen.Plan {
	if len(jobs) > cap(out) {
		out = make(workloadgen.Plan, len(jobs))
	} else {
		out = out[:len(jobs)]
		clear(out)
	}
	for i := range jobs {
		jobs[i].plan(&out[i])
	}
	return out
}

// All yields the jobs of the plan that [Jobs.Plan] returns.
func (jobs Jobs) All() iter.Seq[workloadgen.Job] {
	return func(yield func(workloadgen.Job) bool) {
		for i := range jobs {
			var out workloadgen.Job
			jobs[i].plan(&out)
			if !yield(out) {
				return
			}
		}
	}
}

// plan sets out, which must be zero, to a job of the plan. It works in place, because copying
// a job, which contains a string, takes much longer while the garbage collector runs.
func (j *job) plan(out *workloadgen.Job) {
	out.ID, out.User = j.id, j.user
	out.Arrival, out.Runtime, out.Estimate, out.Deadline = j.arrival, j.runtime, j.estimate, j.runtime
	out.Nodes, out.Worth = j.nodes, 1
	out.After, out.Think, out.Needs = j.after, j.think, j.needs
}

// Jobs returns the data for [Trace.Plan].
func (t *Trace) Jobs(m Memory) (Jobs, Accounting) {
	acc := Accounting{records: true}
	jobs := make(Jobs, 0, len(t.Records))
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
		j := job{id: r.Job, user: r.User, arrival: r.Submit, runtime: r.Run, estimate: r.ReqTime, nodes: int(r.Width())}
		if r.Preceding > 0 {
			j.after, j.think = r.Preceding, max(0, r.Think)
		}
		repaired := false
		if r.Procs <= 0 {
			note(ProcsFromRequest)
			repaired = true
		}
		if r.ReqTime <= 0 {
			j.estimate = r.Run
			note(EstimateFromRun)
			repaired = true
		}
		if r.User < 0 {
			j.user = 0
			note(UserUnknown)
			repaired = true
		}
		if m == Requested || m == Used {
			bytes, why, reason := m.of(r)
			if bytes > 0 {
				j.needs = &workloadgen.Needs{Memory: bytes}
			}
			if reason {
				note(why)
				repaired = repaired || why != MemoryBeyond
			}
		}
		if repaired {
			acc.Repaired++
		} else {
			acc.Used++
		}
		jobs = append(jobs, j)
	}
	slices.SortStableFunc(jobs, func(a, b job) int {
		return cmp.Or(cmp.Compare(a.arrival, b.arrival), cmp.Compare(a.id, b.id))
	})
	jobs.link(&acc)
	if m != Requested && m != Used {
		acc.unused = append(acc.unused, t.unused()...)
	}
	return jobs, acc
}

// link removes predecessors that are not earlier jobs of the plan, and counts the jobs that
// are linked.
func (jobs Jobs) link(acc *Accounting) {
	if !slices.ContainsFunc(jobs, func(j job) bool { return j.after > 0 }) {
		return
	}
	earlier, lost := make(map[int64]bool, len(jobs)), 0
	for i := range jobs {
		switch j := &jobs[i]; {
		case j.after > 0 && !earlier[j.after]:
			j.after, j.think = 0, 0
			lost++
		case j.after > 0:
			acc.follow++
		}
		earlier[jobs[i].id] = true
	}
	if lost > 0 {
		acc.unused = append(acc.unused, fmt.Sprintf("preceding job (field 17) of %d records, which is no earlier job of the plan: they arrive as recorded", lost))
	}
}

// Whole returns the records of whole jobs, in the order of the file, and counts the others:
// parts of jobs (status 2 to 4) and repeated job numbers. Among records with the same number,
// it selects the first that ran, or else the first.
func (t *Trace) Whole() (jobs []Record, parts, repeats int) {
	chosen := make(map[int64]int, len(t.Records)) // position of the job's record, by number
	for i := range t.Records {
		r := &t.Records[i]
		if r.Partial() {
			parts++
			continue
		}
		if was, found := chosen[r.Job]; !found || !t.Records[was].Ran() && r.Ran() {
			chosen[r.Job] = i
		}
	}
	if repeats = len(t.Records) - parts - len(chosen); parts+repeats == 0 {
		return t.Records, 0, 0
	}
	jobs = make([]Record, 0, len(chosen))
	for i := range t.Records {
		if r := &t.Records[i]; !r.Partial() && chosen[r.Job] == i {
			jobs = append(jobs, *r)
		}
	}
	return jobs, parts, repeats
}

// unused describes how many records have data that has no place in a plan.
func (t *Trace) unused() []string {
	memory := 0
	for i := range t.Records {
		if t.Records[i].ReqMemory > 0 {
			memory++
		}
	}
	if memory == 0 {
		return nil
	}
	return []string{fmt.Sprintf("requested memory (field 10) of %d records", memory)}
}

// refuse returns the reason for which a record cannot be a job of a plan.
func (r *Record) refuse(seen map[int64]bool) (Reason, bool) {
	switch {
	case r.Partial():
		return PartOfJob, true
	case r.Run == 0 && r.Status == Completed && r.Width() > 0:
		return TooShort, true
	case !r.Ran():
		return NeverRan, true
	case r.Width() > workloadgen.MaxNodes || max(r.Submit, r.Run, r.ReqTime) > workloadgen.MaxSeconds:
		return TooLarge, true
	case seen[r.Job]:
		return SameNumber, true
	}
	return 0, false
}

// FromPlan converts the plan to a log of a machine with the given number of processors; 0 means
// that the number is unknown. The log has id, arrival, runtime, nodes, estimate, user, after
// and think. The header states that worth, value, class, deadline, urgency and penalty were
// omitted, because the format has no fields for them.
func FromPlan(p workloadgen.Plan, processors int64) *Trace {
	t := &Trace{Records: make([]Record, len(p))}
	for i, j := range p {
		t.Records[i] = Record{
			Job: j.ID, Submit: j.Arrival, Wait: Unknown, Run: j.Runtime, Procs: int64(j.Nodes), CPU: Unknown,
			Memory: Unknown, ReqProcs: int64(j.Nodes), ReqTime: j.Estimate, ReqMemory: Unknown, Status: Completed,
			User: j.User, Group: Unknown, Application: Unknown, Queue: Unknown, Partition: Unknown,
			Preceding: Unknown, Think: Unknown,
		}
		if j.Needs != nil && j.Needs.Memory > 0 {
			t.Records[i].ReqMemory = math.Ceil(j.Needs.Memory / 1024)
		}
		if j.After > 0 {
			t.Records[i].Preceding, t.Records[i].Think = j.After, j.Think
		}
	}
	t.Header = Header{
		"; Version: 2.2",
		fmt.Sprintf("; MaxJobs: %d", len(p)),
		fmt.Sprintf("; MaxRecords: %d", len(p)),
		"; Note: written from a work plan; worth, value, class, deadline, urgency and penalty are omitted",
	}
	if processors > 0 {
		t.Header = slices.Insert(t.Header, 3, fmt.Sprintf("; MaxProcs: %d", processors))
	}
	return t
}
