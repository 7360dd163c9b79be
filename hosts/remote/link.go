package remote

import (
	"fmt"

	"bourse/hosts"
)

// This file defines the messages between a host and its market, which are independent of the
// transport. A task is identified by the number that its [Machine] assigned, which counts all
// tasks ever started on that host. Its folder on the host is called CONTRACT.NODE.TRY, where
// TRY is that number.

// Orders describe the wanted state of a host. The host stops running tasks that are not
// wanted, and starts wanted tasks that are not running. Each name is started at most once.
type Orders struct {
	Session int64   // current session; the market ignores other agents
	Boot    string  // identity of the agent of that session
	Ack     int64   // number of the last booked span
	Known   []int64 // names of the tasks whose ends the market has received
	Deal    int64
	Lease   float64  // seconds for which tasks may run, counted from the sending of the answered report
	Wanted  []Wanted // sorted by start
	Moved   []int64  // tasks that are no longer wanted because their contracts start again on other hosts
	Drain   bool     // the host must leave: no more tasks will be wanted
	Logs    []Log    // repeated until they are uploaded
}

// Wanted describes a wanted task.
type Wanted struct {
	Name   int64 // never reused
	Key    int64 // key of the [hosts.Task]; not transmitted
	Weight float64
	Limit  float64 // processors; 0 means the host's own cap
	Left   float64 // seconds until the host ends the task without an order; 0 means never
	Work   float64 // work in processor-seconds at speed 1; +Inf if the host reports the end; not transmitted

	// These fields identify the work. A Machine does not use them; the owner of the Machine
	// sets them.
	Contract    int64
	Account     string // account of the contract
	Node, Nodes int32
	Job         string // hexadecimal SHA-256 of the text of a [Job]
	Try         int32  // number of the attempt to run the node, from 1; 0 if unknown

	Warn       float64  // seconds before its end at which the task is notified; 0 means never
	Checkpoint float64  // seconds between two checkpoints; 0 means only after a notice
	Most       int64    // maximum bytes of a checkpoint
	Saved      []string // SHA-256 of each part of the last checkpoint of an earlier try

	Peers     []string         // addresses of all nodes of the contract, by node; empty if the contract has one node
	Port      int32            // first of the [BlockPorts] ports that these nodes may use; 0 if there are none
	Memory    int64            // bytes that the task reserves, which are also the limit of its job; 0 means none
	Disk      int64            // bytes of disk, in the same way
	Bandwidth int64            // bytes per second that the task reserves, but that no host enforces; 0 means none
	Counts    map[string]int32 // units of countable resources that the task reserves, by name

	Asked bool // whether the task's owner set Warn; if so, a program that does not handle SIGTERM is also sent the signal
}

// Folder returns the name of the task's folder on its host.
func (w *Wanted) Folder() string { return fmt.Sprintf("%d.%d.%d", w.Contract, w.Node, w.Name) }

// BlockPorts is the number of consecutive ports that a contract of several nodes may use.
const BlockPorts = 4

// HostsFile is the name of the file with the addresses of a contract's nodes, in the folder of
// each of them.
const HostsFile = "hosts"

// A Job is the program of a task. Its text is JSON.
type Job struct {
	Command []string          `json:"command"`         // program, by name or path, and its arguments
	Env     []string          `json:"env,omitempty"`   // NAME=value; added after PATH, HOME, TMPDIR and LANG
	Files   map[string]string `json:"files,omitempty"` // SHA-256 of each file in the task's folder, by name; a name that ends in / is a folder, stored as a tar stream
	Limits  Limits            `json:"limits,omitzero"`
	Name    string            `json:"name,omitempty"` // shown to users
	GPUs    int               `json:"gpus,omitempty"`
	Stdin   string            `json:"stdin,omitempty"` // name of the file in Files that is the standard input
}

// Limits are the resource limits of a task; 0 means the host's default. If the kernel cannot
// limit groups, Memory and Processes limit each process or each user instead.
type Limits struct {
	Memory    int64 `json:"memory,omitempty"` // bytes, excluding swap
	Processes int   `json:"processes,omitempty"`
	Files     int   `json:"files,omitempty"` // maximum open files per process
	Disk      int64 `json:"disk,omitempty"`  // bytes; applies to each file, the folder and /tmp
	Log       int64 `json:"log,omitempty"`   // bytes; applies to out and to err
}

// Told is a report of a host. It contains the spans and the ends of tasks that the market has
// not acknowledged. An agent that restarts its counters starts a new session.
type Told struct {
	Session int64  // from 1
	Boot    string // identity of the agent; distinguishes agents with the same session number
	After   string // Boot of its predecessor, from its folder or from the market
	Seq     int64  // sequence number of this report in its session
	Have    int64  // number of the allocation in force
	First   int64  // number of the first span in Spans, from 1
	Spans   []Span
	Ends    []End
	Offer   Offer
	Load    float64 // number of processes of the whole machine that run or wait for a processor
	Closed  string  // reason why the host accepts no more tasks, if any
	Leaving Leaving // whether the host's owner asked the host to leave
	Stored  int64   // bytes of output of ended tasks
	Deleted []Deleted
}

// A Deleted identifies an ended task whose output the host deleted to free space.
type Deleted struct {
	Name  int64
	Bytes int64
	Why   string
}

// An Offer describes the properties that a host claims.
type Offer struct {
	Kind         string   // kernel interface that shares its processors
	CPUs         float64  // processors offered
	Memory, Disk float64  // bytes
	Apart        bool     // whether users are isolated
	Trust        []string // accounts whose jobs the host accepts; used only if users are not isolated

	Address string   // address at which tasks on other hosts reach its tasks; "" if unknown
	Ports   [2]int32 // first and last port that its tasks may use; 0 if none
	Busy    []int32  // ports in this range that programs other than the host's tasks use, ascending

	Counts map[string]int32 // number of units of each countable resource, by name

	Bandwidth float64 // bytes per second
}

// Leaving states whether a host wants to stop accepting tasks.
type Leaving uint8

// A host stays, leaves when its running tasks are done, or leaves immediately.
const (
	Stays Leaving = iota
	WhenDone
	AtOnce
)

// A Span is a period, on the host's clock, during which one allocation was in force.
type Span struct {
	Deal   int64
	Length float64 // s
	At     float64 // end of the span, in seconds since the machine booted; 0 means unknown
	Used   []Used  // usage of each task that used anything
}

// Used is the usage of a task from its start to the end of a span.
type Used struct {
	Name    int64
	Seconds float64 // processor-seconds
	Waited  float64 // seconds for which the task was ready but waited for a processor; 0 if not measured
}

// TryAgain is the exit status by which a program asks for another try.
const TryAgain = 75

// An End reports that a task has ended. The task's last usage is in a span of the same report
// or of an earlier one.
type End struct {
	Name        int64
	Why         hosts.End
	Code        uint8    // exit status of the program
	Signal      string   // signal that ended the program, if any
	Fault       string   // fault outside the program, if any
	OutOfMemory bool     // a process was killed because memory ran out
	Lacks       []string // isolation features that the machine lacks
}

// A Checkpoint is a part of a task's checkpoint or, if Data is empty, the list of all parts.
type Checkpoint struct {
	Name int64
	Data []byte   // at most 4 MiB
	Sums []string // SHA-256 of each part, in hexadecimal digits
	Used float64  // processor-seconds that the task had used when the checkpoint was read
}

// A Log is a part of a task's output, or of an archive of its folder. The market requests a Log
// without Text, and the host uploads it with Text.
type Log struct {
	Name   int64
	Errors bool   // whether it is standard error rather than standard output
	From   int64  // offset of the part in bytes
	Text   []byte // at most 256 KiB
	Size   int64  // bytes printed so far
	Fault  string // reason why the part is missing, if it is

	// Archive is the name of a requested archive: a tar stream of the given paths in the
	// folder, or of the whole folder if there are none. The host uploads an archive in parts.
	Archive string
	Paths   []string
	Last    bool // this is the last part
}
