//go:build linux

package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bourse/hosts"
	"bourse/hosts/agent"
	"bourse/hosts/linux"
)

func TestMain(m *testing.M) {
	agent.Main() // this program supervises tasks
	os.Exit(m.Run())
}

// A fake is a Slurm of two nodes of four processors.
type fake struct {
	mu      sync.Mutex
	now     float64
	states  map[string]string // states of nodes
	jobs    []queued          // jobs in the queue; a job waits until start is called
	made    []string          // arguments of sbatch
	scripts []string
	ids     int
	down    bool // whether Slurm does not answer
	loses   bool // whether sbatch fails after adding the job to the queue
	stays   bool // whether scancel has no effect
	runs    bool // whether jobs run on this machine

	cancelled int // number of calls of scancel
}

func (f *fake) clock() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fake) run(_ context.Context, input, name string, args ...string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return "", errors.New("slurm_load_jobs error: Unable to contact slurm controller")
	}
	value := func(flag string) string { return args[slices.Index(args, flag)+1] }
	switch name {
	case "sinfo":
		return fmt.Sprintf("n1|4|1|8000|gpu:a100:2(S:0-1),shard:4|%s\nn2|8|2|4000|(null)|%s\n", f.states["n1"], f.states["n2"]), nil
	case "squeue":
		out := ""
		for _, j := range f.jobs {
			on, asked := j.node, ""
			if j.state == "PENDING" {
				on, asked = asked, on
			}
			out += fmt.Sprintf("%s|%s|%s|%s|%s\n", j.id, j.name, j.state, on, asked)
		}
		return out, nil
	case "scancel":
		if f.cancelled++; !f.stays {
			f.jobs = slices.DeleteFunc(f.jobs, func(j queued) bool { return slices.Contains(args, j.id) })
		}
		return "", nil
	}
	f.ids++
	id := strconv.Itoa(f.ids)
	f.made, f.scripts = append(f.made, strings.Join(args, " ")), append(f.scripts, input)
	f.jobs = append(f.jobs, queued{id: id, name: value("-J"), state: "PENDING", node: value("--nodelist")})
	if f.runs {
		go f.execute(id, input)
	}
	if f.loses {
		return "", errors.New("Socket timed out on send/recv operation")
	}
	return id + "\n", nil
}

// execute runs the script of a job.
func (f *fake) execute(id, script string) error {
	f.start(id)
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "sh")
	cmd.Stdin, cmd.Env = strings.NewReader(script), append(os.Environ(), "SLURM_JOB_ID="+id, "CUDA_VISIBLE_DEVICES=3", "SLURM_SECRET=1")
	err := cmd.Run()
	f.run(context.Background(), "", "scancel", id)
	return err
}

// start starts a job in the queue.
func (f *fake) start(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.jobs {
		if f.jobs[i].id == id {
			f.jobs[i].state = "RUNNING"
		}
	}
}

// queue returns the jobs in the queue, as ID:STATE.
func (f *fake) queue() string {
	var all []string
	for _, j := range f.jobs {
		all = append(all, j.id+":"+j.state)
	}
	return strings.Join(all, " ")
}

// A desk is a partition of a fake Slurm.
type desk struct {
	*testing.T
	*fake
	p *Partition
}

func newDesk(t *testing.T) *desk {
	f := &fake{now: 1000, states: map[string]string{"n1": "idle", "n2": "mixed"}}
	p, err := open(t.Context(), "all", t.TempDir(), "/opt/it's/bourse", f.run, f.clock)
	if err != nil {
		t.Fatal(err)
	}
	p.Market = "lab"
	return &desk{t, f, p}
}

// task makes the folder of a task on node n1, as its agent does, and returns the folder.
func (d *desk) task(name string, job map[string]any, until float64) string {
	d.Helper()
	folder := filepath.Join(d.p.Spool, "n1", "tasks", name)
	text, err := json.Marshal(map[string]any{"Name": name, "Job": job, "CPUs": 2, "Spool": true})
	err = errors.Join(err, os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "task.json"), text, 0o600))
	d.orders(folder, until, 0)
	if err = errors.Join(err, d.p.nodes[0].Backend().Start(folder)); err != nil {
		d.Fatal(err)
	}
	return folder
}

func (d *desk) orders(folder string, until, kill float64) {
	d.write(folder, "orders", fmt.Sprintf(`{"Until":%v,"KillAt":%v}`, until, kill))
}

func (d *desk) write(folder, name, text string) {
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		d.Fatal(err)
	}
}

// step advances the clock by seconds and then compares the queue with the tasks.
func (d *desk) step(seconds float64) error {
	d.now += seconds
	return d.p.step(d.Context())
}

// want fails the test unless the queue is as wanted after the step that was described.
func (d *desk) want(what, queue string) {
	d.Helper()
	if got := d.queue(); got != queue {
		d.Errorf("%s: the queue is %q, want %q", what, got, queue)
	}
}

// alive reports whether the agent should consider a task of node n1 alive.
func (d *desk) alive(folder string) bool {
	d.Helper()
	is, err := d.p.nodes[0].Backend().Alive(folder)
	if err != nil {
		d.Error(err)
	}
	return is
}

// TestOffers checks that nodes offer whole cores. Each core of n2 has two threads.
func TestOffers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i, want := range []struct {
		name string
		cpus float64
		gpus int
		mem  float64
	}{{"n1", 4, 2, 8000 << 20}, {"n2", 4, 0, 4000 << 20}} {
		n := d.p.Nodes()[i]
		if o := n.Backend().Offer; n.Name() != want.name || o.CPUs != want.cpus || n.gpus != want.gpus || o.Memory != want.mem || o.Kind != Kind || o.Apart {
			t.Errorf("node %s offers %+v and %d GPUs, want %+v", n.Name(), o, n.gpus, want)
		}
	}
	if _, err := open(t.Context(), "none", t.TempDir(), "", func(context.Context, string, string, ...string) (string, error) { return "", nil }, d.clock); err == nil {
		t.Error("a partition without nodes was opened")
	}
}

// TestSubmitted checks the options and the script of a job. The job's time limit is the time left,
// in whole minutes, plus 2.
func TestSubmitted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	folder := d.task("17.0.3", map[string]any{"gpus": 1, "limits": map[string]any{"memory": 1e9}}, d.now+90)
	if err := d.step(1); err != nil {
		t.Fatal(err)
	}
	want := "--parsable --no-requeue -p all -J bourse.lab.17.0.3 --nodelist n1 -N 1 -n 1 -c 2 --mem 954M -o /dev/null -D / --gres gpu:1 -t 4"
	if len(d.made) != 1 || d.made[0] != want {
		t.Errorf("sbatch %q, want %q", d.made, want)
	}
	if want := "#!/bin/sh\nexec '/opt/it'\\''s/bourse' bourse-minder --spool '" + folder + "'\n"; d.scripts[0] != want {
		t.Errorf("the script is %q, want %q", d.scripts[0], want)
	}
}

// TestQueue checks that a wanted task has one job, even if answers of Slurm are lost, and that
// jobs of no wanted task are cancelled until they are gone.
func TestQueue(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	folder := d.task("1.0.1", nil, 0)
	d.loses = true
	if err := d.step(1); err == nil {
		t.Error("sbatch failed, and nothing was said")
	}
	d.loses = false
	d.step(10)
	d.want("its answer was lost", "1:PENDING")
	d.jobs = nil
	d.step(1)
	d.want("Slurm has forgotten it", "2:PENDING")
	d.jobs = nil
	d.step(1)
	d.want("and again, just after it was submitted", "")
	d.step(5)
	d.want("later", "3:PENDING")
	d.jobs = append(d.jobs, queued{id: "2", name: "bourse.lab.1.0.1", state: "PENDING", node: "n1"})
	d.step(1)
	d.want("an earlier job is back", "2:PENDING")
	d.start("2")
	d.write(folder, "started", "2\n")
	d.jobs = append(d.jobs, queued{id: "1", name: "bourse.lab.1.0.1", state: "RUNNING", node: "n1"})
	d.step(1)
	d.want("another job would start what has started", "2:RUNNING")
	d.jobs = append(d.jobs,
		queued{id: "4", name: "bourse.lab.9.0.1", state: "PENDING", node: "n1"},   // job of an unknown task
		queued{id: "5", name: "bourse.lab.1.0.1", state: "PENDING", node: "n2"},   // job of a task of the other node
		queued{id: "6", name: "bourse.other.1.0.1", state: "RUNNING", node: "n1"}, // job of another market
		queued{id: "7", name: "mine", state: "RUNNING", node: "n1"})
	d.stays = true
	for range 3 {
		d.step(1)
	}
	if d.cancelled < 3 {
		t.Errorf("jobs that stay were cancelled %d times", d.cancelled)
	}
	d.stays = false
	d.step(1)
	d.want("jobs that nobody wants", "2:RUNNING 6:RUNNING 7:RUNNING")
	d.jobs = nil
	d.step(100)
	d.want("a job that has started is gone", "")
	if err := d.p.nodes[0].Backend().Kernel.Kill("1.0.1"); err != nil {
		t.Fatal(err)
	}
	d.jobs = []queued{{id: "2", name: "bourse.lab.1.0.1", state: "RUNNING", node: "n1"}}
	d.step(1)
	d.want("its task was killed", "")
}

// TestClosed checks the reasons why a node accepts no tasks, and that the node accepts tasks
// again afterwards.
func TestClosed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	closed := func(what string, want ...string) {
		t.Helper()
		for i, n := range d.p.Nodes() {
			if got := n.Backend().Closed(); (got == "") != (want[i] == "") || !strings.Contains(got, want[i]) {
				t.Errorf("%s: %s is closed: %q, want %q", what, n.Name(), got, want[i])
			}
		}
	}
	folder := d.task("1.0.1", nil, 0)
	d.step(59)
	closed("a job waits for less than a minute", "", "")
	d.step(1)
	closed("a job waits for a minute", "bourse.lab.1.0.1 has been pending for 60 s", "")
	d.start("1")
	d.write(folder, "started", "1\n")
	d.alive(folder)
	closed("it has started", "", "")
	d.states["n2"] = "idle*"
	d.step(10)
	closed("a node does not respond", "", "state idle*")
	d.states["n2"] = "down*"
	d.step(10)
	closed("a node is down", "", "state down*")
	d.states["n2"] = "mixed"
	d.step(10)
	d.down = true
	for range 59 {
		d.step(1)
	}
	closed("Slurm does not answer for less than a minute", "", "")
	d.step(1)
	closed("Slurm does not answer", "Unable to contact", "Unable to contact")
	d.down = false
	d.step(1)
	closed("it answers", "", "")
}

// TestEnds checks how tasks end without a supervisor: those that never started, after which no
// supervisor can start them, and those whose supervisor is silent.
func TestEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	why := func(folder string) string {
		var e struct{ Why hosts.End }
		text, err := os.ReadFile(filepath.Join(folder, "exit.json"))
		if err == nil {
			err = json.Unmarshal(text, &e)
		}
		if err != nil {
			return ""
		}
		return e.Why.String()
	}
	killed, expired, unready, running := d.task("1.0.1", nil, 0), d.task("2.0.2", nil, d.now+30), d.task("3.0.3", nil, 0), d.task("4.0.4", nil, 0)
	os.Remove(filepath.Join(unready, "ready"))
	tooBig := d.task("5.0.5", map[string]any{"gpus": 3}, 0)
	if d.alive(tooBig) || why(tooBig) != "failed" {
		t.Errorf("a task that needs more GPUs than the node has: %q", why(tooBig))
	}
	d.step(1)
	if d.alive(unready) || why(unready) != "lost" || len(d.made) != 3 {
		t.Errorf("a task whose folder is not complete: %s; %d jobs", why(unready), len(d.made))
	}
	for _, folder := range []string{killed, expired, running} {
		if !d.alive(folder) {
			t.Errorf("%s is not alive", folder)
		}
	}
	d.orders(killed, 0, d.now+10)
	if d.alive(killed) || why(killed) != "killed" {
		t.Errorf("a task that was killed before it started: %q", why(killed))
	}
	d.now += 30
	if d.alive(expired) || why(expired) != "expired" {
		t.Errorf("a task whose time is over before it started: %q", why(expired))
	}
	if job, started := agent.Started(killed); !started || job != "abandoned" {
		t.Errorf("a supervisor could start what has ended: %q", job)
	}
	d.step(1)
	d.want("two have ended", "3:PENDING")

	d.start("3")
	d.write(running, "started", "3\n")
	for range 3 { // Each beat shows that the supervisor is alive.
		d.alive(running)
		d.now += 119
		d.write(running, "beat", fmt.Sprintf(`{"At":%v,"Used":%v,"Waited":2}`, d.now, d.now/10))
		if !d.alive(running) {
			t.Error("a task whose supervisor reports is not alive")
		}
	}
	got, err := d.p.nodes[0].Backend().Kernel.Read(nil)
	if i := slices.IndexFunc(got, func(u linux.Usage) bool { return u.Name == "4.0.4" }); err != nil || i < 0 || got[i].Used != d.now/10 || got[i].Waited != 2 {
		t.Errorf("usage is %+v, %v", got, err)
	}
	d.orders(running, 0, d.now)
	if d.now += 119; !d.alive(running) {
		t.Error("a supervisor was given up before 120 s")
	}
	if d.now++; d.alive(running) {
		t.Error("a supervisor that was silent for 120 s is alive")
	}
}
