package remote

import (
	"fmt"

	"bourse/hosts"
)

// What a host and its market tell each other, however it travels. A task is known by the
// number that its [Machine] gave it, which counts what was ever started on that host. Its
// folder there is called CONTRACT.NODE.TRY, of which that number is the TRY.

// Orders are all that a host is to do: what runs there and is not wanted is stopped, what
// is wanted and not there is started, once a name.
type Orders struct {
	Session int64   // that the market listens to: another agent is not heard
	Boot    string  // of that one
	Ack     int64   // spans up to this one are booked
	Known   []int64 // names whose ends have been heard
	Deal    int64
	Lease   float64  // s from when what this answers was sent, for which tasks may run
	Wanted  []Wanted // in order of start
	Drain   bool     // the host is to leave: nothing more will be wanted
	Logs    []Log    // asked for until they are put
}

// Wanted is a task that is wanted.
type Wanted struct {
	Name   int64 // never given to another
	Key    int64 // of [hosts.Task]; it does not travel
	Weight float64
	Limit  float64 // processors; 0 is the host's own cap
	Left   float64 // s until the host is to end it by itself; 0 is never
	Work   float64 // processor-seconds at speed 1 at which it is done; +Inf if it tells. It does not travel

	// What the host is to run, which a Machine does not know: whoever owns it fills it in.
	Contract    int64
	Account     string // that the contract is of
	Node, Nodes int32
	Job         string // SHA-256 of the text of a [Job], in hexadecimal digits
}

// Folder returns what the task is called on its host.
func (w *Wanted) Folder() string { return fmt.Sprintf("%d.%d.%d", w.Contract, w.Node, w.Name) }

// A Job is what a task runs. Its text is JSON.
type Job struct {
	Command []string          `json:"command"`         // its program, by name or path, and arguments
	Env     []string          `json:"env,omitempty"`   // NAME=value, after PATH, HOME, TMPDIR and LANG
	Files   map[string]string `json:"files,omitempty"` // in its folder: SHA-256 by name
	Limits  Limits            `json:"limits,omitzero"`
}

// Limits bound what a task takes of its machine; 0 is the host's own. Where the kernel
// bounds no groups, Memory and Processes bound each process, or each user, instead.
type Limits struct {
	Memory    int64 `json:"memory,omitempty"` // bytes, without swap
	Processes int   `json:"processes,omitempty"`
	Files     int   `json:"files,omitempty"` // open at once, by one process
	Disk      int64 `json:"disk,omitempty"`  // bytes of one file, of its folder, and of /tmp
	Log       int64 `json:"log,omitempty"`   // bytes of out, and of err
}

// Told is what a host tells: the spans that it does not know to be booked, and the ends
// that it does not know to be heard. An agent that begins to count anew is a new session.
type Told struct {
	Session int64  // from 1
	Boot    string // of the agent: tells it from one that counts the same
	After   string // Boot of the agent that it follows: whose folder it has, or who was told to be the last
	Seq     int64  // of this message, within its session
	Have    int64  // deal that stands there
	First   int64  // number of the first of Spans, from 1
	Spans   []Span
	Ends    []End
	Offer   Offer
	Load    float64 // processes of the whole machine that run or wait for a processor
	Closed  string  // why the host takes no more tasks, if so
	Leaving Leaving // what its owner wants
	Stored  int64   // bytes of output of ended tasks
	Deleted []Deleted
}

// A Deleted is a task that has ended, whose output the host has deleted to have room.
type Deleted struct {
	Name  int64
	Bytes int64
	Why   string
}

// An Offer is what a host says of itself.
type Offer struct {
	Kind         string   // of what shares its processors
	CPUs         float64  // processors offered
	Memory, Disk float64  // bytes
	Apart        bool     // users are kept apart
	Trust        []string // accounts of whom alone it takes jobs, unless users are kept apart
}

// Leaving is whether a host wants to take no more tasks.
type Leaving uint8

// A host stays, leaves when what runs there is done, or at once.
const (
	Stays Leaving = iota
	WhenDone
	AtOnce
)

// A Span is a time in which one deal stood, by the host's own clock.
type Span struct {
	Deal   int64
	Length float64 // s
	At     float64 // its end, in seconds since the host's machine was started; 0 is unknown
	Used   []Used  // of those that have used something
}

// Used is what a task has used from its start to the end of a span.
type Used struct {
	Name    int64
	Seconds float64 // of a processor
	Waited  float64 // s in which it could run and did not; 0 where that is not measured
}

// An End is a task that is over. What it used is in a span of the same message, or of one
// before.
type End struct {
	Name        int64
	Why         hosts.End
	Code        uint8    // with which its program ended
	Signal      string   // that ended it, if one did
	Fault       string   // what went wrong besides the program
	OutOfMemory bool     // something of it was killed for that
	Lacks       []string // what of isolation the machine did not offer
}

// A Log is a part of what a task has printed, or of an archive of what is in its folder:
// asked for without Text, put with it.
type Log struct {
	Name   int64
	Errors bool   // what it printed as such
	From   int64  // byte at which the part begins
	Text   []byte // at most 256 KiB
	Size   int64  // bytes printed so far
	Fault  string // why there is none, if so

	// An archive is asked for under a name, part after part: tar, of the paths in the
	// folder, all of it if there are none.
	Archive string
	Paths   []string
	Last    bool // it ends with this part
}
