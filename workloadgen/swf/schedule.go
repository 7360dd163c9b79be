package swf

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
)

// A Slot is the time at which a scheduler ran a job, in seconds since the origin of its run.
// For a log, the origin is the submission of its first job.
type Slot struct {
	Submit float64
	Nodes  int
	User   int64

	Started    bool // if false, the job was rejected and has no other data
	Start, End float64
	Completed  bool // its work was done, in time or late; if this is false, it was stopped early
}

// Schedule returns the log of a run of t's jobs by a scheduler, given the slots by job number.
// It contains the records of the submitted jobs in order of submission. Ties are ordered by
// number. In each record,
//
//	submit     time in the run, on the clock of t: the first job that has a record
//	           keeps its submit time
//	wait       from submission to start, Unknown if the job was rejected
//	run        from start to end, Unknown if the job was rejected
//	allocated  number of processors of the job, Unknown if the job was rejected
//	status     1 completed, 0 stopped early, 5 rejected
//
// The average CPU time is Unknown, because it belongs to another run. The other fields are
// copied from t. A job without a record in t gets a new one. The comments of t are retained,
// except that MaxJobs, MaxRecords and MaxProcs describe the run, which had the given number of
// processors, and that EndTime is omitted. The lines of about are added as notes.
func (t *Trace) Schedule(slots map[int64]Slot, processors int64, about ...string) *Trace {
	whole, _, _ := t.Whole()
	recorded := make(map[int64]*Record, len(whole))
	for i := range whole {
		recorded[whole[i].Job] = &whole[i]
	}
	origin, first := 0.0, math.Inf(1)
	for _, id := range slices.Sorted(maps.Keys(slots)) {
		if r := recorded[id]; r != nil && slots[id].Submit < first {
			first = slots[id].Submit
			origin = r.Submit - first
		}
	}
	out := &Trace{Header: t.Header.Without("EndTime"), Records: make([]Record, 0, len(slots))}
	for _, line := range about {
		out.Header = append(out.Header, "; Note: "+line)
	}
	for _, id := range slices.Sorted(maps.Keys(slots)) {
		s := slots[id]
		r := Record{
			Job: id, Memory: Unknown, ReqProcs: int64(s.Nodes), ReqTime: Unknown, ReqMemory: Unknown, User: s.User,
			Group: Unknown, Application: Unknown, Queue: Unknown, Partition: Unknown, Preceding: Unknown, Think: Unknown,
		}
		if was := recorded[id]; was != nil {
			r = *was
		}
		r.Submit, r.Wait, r.Run, r.Procs, r.CPU, r.Status = origin+s.Submit, Unknown, Unknown, Unknown, Unknown, Cancelled
		if s.Started {
			r.Wait, r.Run, r.Procs, r.Status = s.Start-s.Submit, s.End-s.Start, int64(s.Nodes), Failed
			if s.Completed {
				r.Status = Completed
			}
		}
		out.Records = append(out.Records, r)
	}
	slices.SortStableFunc(out.Records, func(a, b Record) int { return cmp.Compare(a.Submit, b.Submit) })
	if len(t.Header) == 0 {
		out.Header = append(Header{"; Version: 2.2", "; MaxJobs: 0", "; MaxRecords: 0", "; MaxProcs: 0"}, out.Header...)
	}
	out.Header = out.Header.Agree(out.Records).With("MaxProcs", strconv.FormatInt(processors, 10))
	return out
}
