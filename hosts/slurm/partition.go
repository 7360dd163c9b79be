//go:build linux

// Package slurm offers the nodes of a Slurm partition as hosts of a market. Slurm only runs the
// jobs. The market makes all scheduling decisions, and submits a job only if the job can start
// immediately. No one else may use the partition. The package is independent of prices and users,
// and of how the market is reached.
//
// Each node has an [agent.Agent] with a folder SPOOL/NODE, which all nodes share. Tasks reserve
// whole cores. The batch script of a task's job is its supervisor; see [agent.Backend]. The job
// is called bourse.MARKET.CONTRACT.NODE.TRY.
//
// # Design
//
// Slurm may lose a job, and may start one twice after it has lost a node. After its controller was
// killed, it may restore a cancelled job. Its reports therefore never start or end a task. The
// [Partition] lists the jobs every second, and reconciles them with the wanted tasks:
//
//   - A wanted task that has no job, and has not started, gets one.
//   - A job that belongs to no wanted task, or is a second job of its task, is cancelled
//     repeatedly until it is gone.
//   - Only the file exit.json, or a supervisor that is silent for [lost] seconds, ends a task. A
//     task that never started ends once no supervisor can start it any more.
package slurm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"bourse/hosts"
	"bourse/hosts/agent"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

// Kind is the kind of hosts on top of Slurm.
const Kind = "slurm"

// Delays, in seconds.
const (
	lost    = 120 // until a silent supervisor counts as lost; its task has stopped by then
	waiting = 60  // until a node on which jobs do not start accepts no more tasks
	again   = 5   // until a job that is not in the queue is submitted again
	states  = 10  // until the states of nodes are read again
)

// A Partition offers the nodes of a partition of a Slurm cluster.
type Partition struct {
	Name    string
	Market  string // name of the market, for the names of jobs; set before Run
	Spool   string // folder of all agents, at the same path on all nodes
	Program string // path of a program whose main function calls [agent.Main]; it must exist on all nodes

	run   command
	clock func() float64

	mu     sync.Mutex
	nodes  []*Node // sorted by name
	fault  string  // reason why Slurm does not answer; "" if it does
	heard  float64 // time at which Slurm last answered
	looked float64 // time at which the states of nodes were last read
}

// A Node is a node of a partition.
type Node struct {
	partition *Partition
	node
	tasks map[string]*task // by name
}

// A task is a task that an agent has started on a node.
type task struct {
	job
	unwanted  bool
	began     float64 // time at which the agent started the task, or found it after a restart
	submitted float64 // time at which its job was last submitted
	beat      agent.Beat
	changed   float64 // time at which the beat last changed
	started   bool
}

// Open returns the partition with the given name.
func Open(ctx context.Context, name, spool, program string) (*Partition, error) {
	return open(ctx, name, spool, program, execute, agent.SpoolTime)
}

func open(ctx context.Context, name, spool, program string, run command, clock func() float64) (*Partition, error) {
	spool, err := filepath.Abs(spool)
	if err != nil {
		return nil, err
	}
	p := &Partition{Name: name, Spool: spool, Program: program, run: run, clock: clock, heard: clock()}
	all, err := nodes(ctx, run, name)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		p.nodes = append(p.nodes, &Node{partition: p, node: n, tasks: make(map[string]*task)})
	}
	return p, nil
}

// Nodes returns the nodes, sorted by name.
func (p *Partition) Nodes() []*Node { return p.nodes }

// Name returns the name of the node.
func (n *Node) Name() string { return n.name }

// Dir returns the folder of the node's agent.
func (n *Node) Dir() string { return filepath.Join(n.partition.Spool, n.name) }

// Backend returns the backend of the node's agent.
func (n *Node) Backend() *agent.Backend {
	return &agent.Backend{
		Offer:  n.offer(),
		Kernel: kernel{n},
		Start:  n.start,
		Alive:  n.alive,
		Closed: n.closed,
	}
}

const mebibyte = 1 << 20

// offer returns the offer of the node.
func (n *Node) offer() remote.Offer {
	o := remote.Offer{Kind: Kind, CPUs: float64(n.cores), Memory: float64(n.memory) * mebibyte, Address: n.name}
	if n.gpus > 0 {
		o.Counts = map[string]int32{"gpu": int32(n.gpus)}
	}
	return o
}

// start adds the task of a folder to the wanted tasks. The file ready marks the folder as
// complete. A task that Slurm could never start on this node fails.
func (n *Node) start(folder string) error {
	t, err := n.of(folder)
	if err != nil {
		return err
	}
	if t.cores > n.cores || t.memory > n.memory || t.gpus > n.gpus {
		_, err := agent.Abandon(folder, hosts.Failed, fmt.Sprintf("command: found %d cores, %d MiB and %d GPUs requested, want at most the %d, %d and %d of node %s",
			t.cores, t.memory, t.gpus, n.cores, n.memory, n.gpus, n.name))
		return err
	}
	return os.WriteFile(filepath.Join(folder, "ready"), nil, 0o600)
}

func ready(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "ready"))
	return err == nil
}

// of returns the task of a folder. The caller must not hold the lock.
func (n *Node) of(folder string) (*task, error) {
	name := filepath.Base(folder)
	n.partition.mu.Lock()
	t := n.tasks[name]
	n.partition.mu.Unlock()
	if t != nil {
		return t, nil
	}
	r, err := agent.ReadTask(folder)
	if err != nil {
		return nil, err
	}
	now := n.partition.clock()
	t = &task{job: job{
		folder: folder, name: name, cores: int(math.Ceil(r.CPUs)), gpus: r.GPUs, until: r.Until,
		memory: int((r.Job.Limits.Memory + mebibyte - 1) / mebibyte),
	}, began: now, changed: now, submitted: now - again}
	if t.cores == 0 {
		t.cores = n.cores
	}
	_, t.started = agent.Started(folder)
	n.partition.mu.Lock()
	n.tasks[name] = t
	n.partition.mu.Unlock()
	return t, nil
}

// alive reports whether the task of a folder may run. It ends a task whose time passed before
// the task started.
func (n *Node) alive(folder string) (bool, error) {
	if agent.Ended(folder) {
		return false, nil
	}
	t, err := n.of(folder)
	if err != nil {
		return false, err
	}
	p := n.partition
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	if t.started {
		if b, ok, err := agent.ReadBeat(folder); err != nil {
			return false, err
		} else if ok && b != t.beat {
			t.beat, t.changed = b, now
		}
		return now < t.changed+lost, nil
	}
	r, err := agent.ReadTask(folder)
	if err != nil {
		return false, err
	}
	switch {
	case !ready(folder): // the agent died before the folder was complete
		return n.abandon(t, hosts.Lost, "it was never started")
	case r.KillAt > 0:
		return n.abandon(t, hosts.Killed, "it was ended before Slurm started it")
	case r.Until > 0 && now >= r.Until:
		return n.abandon(t, hosts.Expired, "Slurm did not start it in time")
	}
	t.until = r.Until
	if _, t.started = agent.Started(folder); t.started {
		t.changed = now
	}
	return true, nil
}

// abandon ends a task if it has not started. It reports whether the task may still run.
func (n *Node) abandon(t *task, why hosts.End, fault string) (bool, error) {
	ended, err := agent.Abandon(t.folder, why, fault)
	t.started, t.unwanted = !ended, ended
	return !ended, err
}

// closed returns the reason why the node accepts no more tasks, or "".
func (n *Node) closed() string {
	p := n.partition
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	if p.fault != "" && now >= p.heard+waiting {
		return p.fault
	}
	if !n.usable() {
		return fmt.Sprintf("Slurm reports the state %s of node %s", n.state, n.name)
	}
	for _, t := range n.tasks {
		if !t.started && !t.unwanted && now >= t.began+waiting {
			return fmt.Sprintf("job %s%s has been pending for %d s", p.prefix(), t.name, waiting)
		}
	}
	return ""
}

// prefix returns the prefix of the names of the market's jobs.
func (p *Partition) prefix() string { return "bourse." + p.Market + "." }

// Run reconciles the jobs with the tasks every second, until ctx ends. It reports each fault only
// once. All agents must have been opened.
func (p *Partition) Run(ctx context.Context, say func(string)) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	said := ""
	for {
		err := p.step(ctx)
		if ctx.Err() != nil {
			return nil
		}
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != said && text != "" {
			say(text)
		}
		said = text
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// step compares the queue with the wanted tasks, and submits and cancels jobs. The queue is
// read after the last submission. A job that is not in the queue is therefore unknown to
// Slurm.
func (p *Partition) step(ctx context.Context) error {
	found, err := queue(ctx, p.run, p.Name, p.prefix())
	p.answered(err)
	if err != nil {
		return err
	}
	var errs []error
	if p.clock() >= p.looked+states {
		errs = append(errs, p.look(ctx))
	}
	surplus := p.surplus(found)
	if len(surplus) > 0 {
		errs = append(errs, cancel(ctx, p.run, surplus))
	}
	for _, n := range p.nodes {
		for _, j := range n.absent(found) {
			errs = append(errs, submit(ctx, p.run, &j, &n.node, p.Name, p.prefix(), p.Program, p.clock()))
		}
	}
	return errors.Join(errs...)
}

// answered records whether Slurm answers.
func (p *Partition) answered(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault = ""; err != nil {
		p.fault = err.Error()
		return
	}
	p.heard = p.clock()
}

// look reads the states of the nodes.
func (p *Partition) look(ctx context.Context) error {
	all, err := nodes(ctx, p.run, p.Name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		return err
	}
	p.looked = p.clock()
	for _, n := range p.nodes {
		n.state = "unknown"
		for i := range all {
			if all[i].name == n.name {
				n.state = all[i].state
			}
		}
	}
	return nil
}

// surplus returns the ids of jobs to cancel. These are the jobs that belong to no wanted task
// and, if a task has several jobs, all except the one that has started the task, or else the
// first.
func (p *Partition) surplus(found []queued) (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	chosen := make(map[*task]string)
	for _, q := range found {
		t := p.find(&q)
		if t == nil || t.unwanted || q.state == "COMPLETING" {
			continue
		}
		if owner, started := agent.Started(t.folder); started {
			chosen[t] = owner
		} else if was := number(chosen[t]); was == 0 || number(q.id) < was {
			chosen[t] = q.id
		}
	}
	for _, q := range found {
		if t := p.find(&q); (t == nil || chosen[t] != q.id) && q.state != "COMPLETING" {
			ids = append(ids, q.id)
		}
	}
	return ids
}

func number(id string) int {
	n, _ := strconv.Atoi(id)
	return n
}

// find returns the task of a job, or nil.
func (p *Partition) find(q *queued) *task {
	i := slices.IndexFunc(p.nodes, func(n *Node) bool { return n.name == q.node })
	if i < 0 {
		return nil
	}
	return p.nodes[i].tasks[q.name]
}

// absent returns the jobs that must be submitted, sorted by name.
func (n *Node) absent(found []queued) (all []job) {
	p := n.partition
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	for _, t := range n.tasks {
		has := slices.ContainsFunc(found, func(q queued) bool { return q.node == n.name && q.name == t.name })
		if has || t.unwanted || t.started || now < t.submitted+again || !ready(t.folder) {
			continue
		}
		if _, t.started = agent.Started(t.folder); t.started {
			continue
		}
		t.submitted = now
		all = append(all, t.job)
	}
	slices.SortFunc(all, func(a, b job) int { return strings.Compare(a.name, b.name) })
	return all
}

// A kernel measures the tasks of a node, and cancels their jobs. It does not divide the node:
// Slurm allocates whole cores to the tasks, and their supervisors pause them.
type kernel struct{ n *Node }

func (k kernel) Kind() string                     { return Kind }
func (k kernel) Bounds() (memory, processes bool) { return false, false }
func (k kernel) Make(string, linux.Limits) error  { return nil }
func (k kernel) Supervise(string) error           { return errors.New("slurm: no supervisor is on this machine") }
func (k kernel) Enter(string, int) error          { return errors.New("slurm: no task is on this machine") }
func (k kernel) Share([]linux.Share) error        { return nil }
func (k kernel) Freeze(string) error              { return nil }
func (k kernel) Thaw(string) error                { return nil }
func (k kernel) List() ([]string, error)          { return nil, nil }
func (k kernel) Close() error                     { return nil }

// Read returns the usage of tasks that their supervisors last recorded.
func (k kernel) Read(out []linux.Usage) ([]linux.Usage, error) {
	p := k.n.partition
	p.mu.Lock()
	defer p.mu.Unlock()
	from := len(out)
	for name, t := range k.n.tasks {
		out = append(out, linux.Usage{Name: name, Used: t.beat.Used, Waited: t.beat.Waited})
	}
	slices.SortFunc(out[from:], func(a, b linux.Usage) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Kill requests the cancellation of a task's job.
func (k kernel) Kill(name string) error {
	p := k.n.partition
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := k.n.tasks[name]; t != nil {
		t.unwanted = true
	}
	return nil
}

// Remove removes a task from the wanted tasks. If the task has a job, Run then cancels the job.
func (k kernel) Remove(name string) error {
	p := k.n.partition
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(k.n.tasks, name)
	return nil
}
