// Package swf reads and writes the Standard Workload Format (SWF), version 2.2, of the Parallel
// Workloads Archive. A log has a header of comment lines, followed by a line of 18 numbers for each
// job, where -1 means unknown.
//
// No line is dropped silently: an [Accounting] reports how many lines were used, repaired and
// skipped, and why. The package converts records to work plans. It is independent of hosts,
// prices and policies.
package swf

// Unknown represents a number that is missing in the log.
const Unknown = -1

// Fields is the number of columns of a record.
const Fields = 18

// A Record is one line of a log, column by column.
type Record struct {
	Job         int64   // 1: number of the job
	Submit      float64 // 2: seconds since the start of the log
	Wait        float64 // 3: seconds
	Run         float64 // 4: seconds
	Procs       int64   // 5: processors allocated
	CPU         float64 // 6: mean seconds of processor time used
	Memory      float64 // 7: mean kilobytes used on a processor
	ReqProcs    int64   // 8: requested processors
	ReqTime     float64 // 9: requested seconds: the user's estimate
	ReqMemory   float64 // 10: requested kilobytes per processor
	Status      int64   // 11: 1 completed, 0 failed, 5 cancelled; 2 to 4 parts of a job
	User        int64   // 12
	Group       int64   // 13
	Application int64   // 14
	Queue       int64   // 15
	Partition   int64   // 16
	Preceding   int64   // 17: job that this one waited for
	Think       float64 // 18: seconds between the end of that job and Submit
}

// Values of [Record.Status].
const (
	Failed    = 0
	Completed = 1
	Cancelled = 5
)

// Partial reports whether the record is a part of a checkpointed job, for which another line
// describes the whole job.
func (r *Record) Partial() bool { return r.Status >= 2 && r.Status <= 4 }

// Width returns the allocated processors, or the requested ones if the log does not contain
// them, or Unknown if it contains neither.
func (r *Record) Width() int64 {
	switch {
	case r.Procs > 0:
		return r.Procs
	case r.ReqProcs > 0:
		return r.ReqProcs
	}
	return Unknown
}

// Ran reports whether the job ran on at least one processor for more than 0 seconds.
func (r *Record) Ran() bool { return r.Run > 0 && r.Width() > 0 }

// columns contains the names of the fields for errors, and which ones are integers.
var columns = [Fields]struct {
	name  string
	whole bool
}{
	{"job number", true},
	{"submit time", false},
	{"wait time", false},
	{"run time", false},
	{"allocated processors", true},
	{"average CPU time", false},
	{"used memory", false},
	{"requested processors", true},
	{"requested time", false},
	{"requested memory", false},
	{"status", true},
	{"user", true},
	{"group", true},
	{"application", true},
	{"queue", true},
	{"partition", true},
	{"preceding job", true},
	{"think time", false},
}

func (r *Record) set(v *[Fields]float64) {
	*r = Record{
		Job: int64(v[0]), Submit: v[1], Wait: v[2], Run: v[3], Procs: int64(v[4]), CPU: v[5], Memory: v[6],
		ReqProcs: int64(v[7]), ReqTime: v[8], ReqMemory: v[9], Status: int64(v[10]), User: int64(v[11]),
		Group: int64(v[12]), Application: int64(v[13]), Queue: int64(v[14]), Partition: int64(v[15]),
		Preceding: int64(v[16]), Think: v[17],
	}
}

func (r *Record) values() [Fields]float64 {
	return [Fields]float64{
		float64(r.Job), r.Submit, r.Wait, r.Run, float64(r.Procs), r.CPU, r.Memory,
		float64(r.ReqProcs), r.ReqTime, r.ReqMemory, float64(r.Status), float64(r.User),
		float64(r.Group), float64(r.Application), float64(r.Queue), float64(r.Partition),
		float64(r.Preceding), r.Think,
	}
}
