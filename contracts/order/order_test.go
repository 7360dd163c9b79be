package order

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/order"
	"bourse/hosts/remote"
)

var head = Head{Ledger: "5f7c3e9a0b1d2c4e6f8091a2b3c4d5e6", Market: "lab", ID: "01KAN3V0Q4XW6Z7M1C9GQ2T5RB", Account: "user:ann", Expires: 10000}

func job() *remote.Job {
	return &remote.Job{Command: []string{"./render", "<frame 7>"}, Env: []string{"A=b"}, Limits: remote.Limits{Memory: 1e9}, Files: map[string]string{"in": Sum(nil)[7:]}}
}

func terms() *Terms {
	return &Terms{Class: "cac", Nodes: 2, CPUs: 1, Work: 540, Deadline: 600, Budget: bank.Micros(1.5e6), Job: Sum(Text(job()))}
}

const text = `bourse order 1
ledger 5f7c3e9a0b1d2c4e6f8091a2b3c4d5e6
market lab
id 01KAN3V0Q4XW6Z7M1C9GQ2T5RB
account user:ann
class cac
nodes 2
work 540
deadline 600
budget 1.500000
job JOB
expires 2000-01-01T02:46:40Z
`

// TestOrder checks the text of an order and its request.
func TestOrder(t *testing.T) {
	t.Parallel()
	o, err := terms().Order(head)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(text, "JOB", Sum(Text(job())), 1); o.String() != want {
		t.Errorf("%s, want %s", o, want)
	}
	got, err := Parse(o)
	if err != nil || !reflect.DeepEqual(got, terms()) || HeadOf(o) != head {
		t.Errorf("read as %+v, %+v, %v", got, HeadOf(o), err)
	}
	r := got.Request()
	if r.Class != "cac" || r.Nodes != 2 || r.Work != 540 || !r.PerHost || r.SLA.Deadline != 600 || r.SLA.Budget != bank.Micros(1.5e6) || r.Needs.Max.CPU != 1 {
		t.Errorf("%+v", r)
	}
}

// TestLater checks that the lines after job are read as they were written, and refused in any
// other form.
func TestLater(t *testing.T) {
	t.Parallel()
	all := terms()
	all.Warn, all.Checkpoint, all.Requeue, all.Array = 30, 600, 2, Array{"A1", 7, 3}
	all.After = [3][]int64{{15, 16}, {17}, {18}}
	o, err := all.Order(head)
	if err != nil {
		t.Fatal(err)
	}
	const lines = "\nwarn 30\ncheckpoint 600\nrequeue 2\narray A1 7 3\nafter 15,16\nafter_ended 17\nafter_failed 18\nexpires"
	if !strings.Contains(o.String(), lines) {
		t.Errorf("%s, want%s", o, lines)
	}
	if got, err := Parse(o); err != nil || !reflect.DeepEqual(got, all) || !got.Waits() || terms().Waits() {
		t.Errorf("read as %+v, %v, want %+v", got, err, all)
	}
	for _, c := range [][2]string{
		{"warn 30", "warn 0"}, {"warn 30", "warn 601"}, {"checkpoint 600", "checkpoint 0.5"}, {"checkpoint 600", "checkpoint 0600"}, {"requeue 2", "requeue 0"}, {"requeue 2", "requeue 1001"}, {"array A1 7 3", "array A1 7"}, {"array A1 7 3", "array A1 -7 3"},
		{"array A1 7 3", "array A1 07 3"}, {"after 15,16", "after 15, 16"}, {"after 15,16", "after x"}, {"after 15,16", "after -1"},
		{"after 15,16", "after " + strings.Repeat("1,", 16) + "1"}, {"requeue 2\narray A1 7 3", "array A1 7 3\nrequeue 2"},
	} {
		o, err := order.Parse(strings.Replace(o.String(), c[0], c[1], 1))
		if err != nil {
			continue
		}
		if got, err := Parse(o); err == nil {
			t.Errorf("%q for %q is read as %+v", c[1], c[0], got)
		}
	}
}

// TestOneForm checks that an order is accepted in only one form.
func TestOneForm(t *testing.T) {
	t.Parallel()
	good := strings.Replace(text, "JOB", Sum(Text(job())), 1)
	for _, c := range [][2]string{
		{"nodes 2", "nodes 02"},
		{"nodes 2", "nodes 0"},
		{"nodes 2", "nodes 2\ncpus 1"},
		{"work 540", "work 540.0"},
		{"work 540", "work 5.4e2"},
		{"work 540", "work NaN"},
		{"work 540", "work +Inf"},
		{"work 540", "work 0"},
		{"work 540\n", ""},
		{"work 540\ndeadline 600\n", "deadline 600\nwork 540\n"},
		{"deadline 600", "deadline -1"},
		{"class cac\n", ""},
		{"class cac", "class cac\ncolour red"},
		{"budget 1.500000", "budget 0.000001"}, // the budget gives no spending rate
		{"job sha256:", "job sha256:0"},
		{"bourse order 1", "bourse read 1"},
	} {
		o, err := order.Parse(strings.Replace(good, c[0], c[1], 1))
		if err != nil {
			continue
		}
		if got, err := Parse(o); err == nil {
			t.Errorf("%q for %q is read as %+v", c[1], c[0], got)
		}
	}
	o, _ := order.Parse(strings.Replace(strings.Replace(good, "nodes 2", "nodes 2\ncpus 0.25", 1), "class cac", "class -", 1))
	if got, err := Parse(o); err != nil || got.CPUs != 0.25 || got.Class != "" {
		t.Errorf("read as %+v, %v", got, err)
	}
}

// TestAbout checks orders that concern a contract.
func TestAbout(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"cancel", "read"} {
		o, err := About(head, kind, 17)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := Contract(o); n != 17 || err != nil {
			t.Errorf("%s of %d, %v", kind, n, err)
		}
		for _, wrong := range []string{"contract 017", "contract -", "contract 17\ncolour red", "contract x"} {
			o, err := order.Parse(strings.Replace(o.String(), "contract 17", wrong, 1))
			if err != nil {
				continue
			}
			if n, err := Contract(o); err == nil {
				t.Errorf("%q is read as %d", wrong, n)
			}
		}
	}
	if o, err := terms().Order(head); err != nil {
		t.Error(err)
	} else if _, err := Contract(o); err == nil {
		t.Error("an order is read as one about a contract")
	}
}

// TestJob checks that a job has exactly one text, which parses back to the job, and that
// invalid jobs are rejected.
func TestJob(t *testing.T) {
	t.Parallel()
	text := string(Text(job()))
	want := `{"command":["./render","<frame 7>"],"env":["A=b"],"files":{"in":"` + Sum(nil)[7:] + `"},"limits":{"memory":1000000000}}`
	if text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if j, err := ParseJob([]byte(text)); err != nil || Sum(Text(j)) != Sum(Text(job())) {
		t.Errorf("%+v, %v", j, err)
	}
	if _, err := ParseJob([]byte(strings.Replace(text, `"in"`, `"in/"`, 1))); err != nil {
		t.Errorf("a folder: %v", err)
	}
	for _, wrong := range []string{
		strings.Replace(text, `"in"`, `"in/in"`, 1), strings.Replace(text, `"in"`, `"/"`, 1), strings.Replace(text, `"in"`, `"../"`, 1), strings.Replace(text, `"in"`, `"in//"`, 1),
		strings.Replace(text, `"in":`, `"in":"`+Sum(nil)[7:]+`","in/":`, 1),
		strings.Replace(text, `"in"`, `"../in"`, 1), strings.Replace(text, `A=b`, `Ab`, 1), strings.Replace(text, `{"mem`, `{"x":1,"mem`, 1),
		strings.Replace(text, `,"env"`, `, "env"`, 1), strings.Replace(text, `"command":["./render","<frame 7>"]`, `"command":[]`, 1), text + "\n", text + text,
		strings.Replace(text, `1000000000`, `-1`, 1), strings.Replace(text, "render", `\u0000`, 1), strings.Replace(text, "render", strings.Repeat("x", mostText), 1),
	} {
		if j, err := ParseJob([]byte(wrong)); err == nil {
			t.Errorf("%.200s is read as %+v", wrong, j)
		}
	}
}

// TestBounds checks that the largest valid terms are accepted and larger ones are rejected.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		set   func(*Terms, float64)
		most  float64
	}{
		{"nodes", func(t *Terms, x float64) { t.Nodes = int(x) }, mostNodes},
		{"cpus", func(t *Terms, x float64) { t.CPUs = x }, mostCPUs},
		{"work", func(t *Terms, x float64) { t.Work = x }, mostWork},
		{"deadline", func(t *Terms, x float64) { t.Deadline = x }, mostWork},
	} {
		for x, right := range map[float64]bool{0: false, -1: false, 1: true, c.most: true, c.most + 1: false} {
			asked := terms()
			asked.Budget = bank.Micros(1e12)
			c.set(asked, x)
			err := asked.check()
			if right && err != nil || !right && (err == nil || !strings.HasPrefix(err.Error(), c.field+": found ")) {
				t.Errorf("%s %v: %v", c.field, x, err)
			}
		}
	}
}

// TestJobBounds checks the maximum lengths of a command with its environment and of file names.
func TestJobBounds(t *testing.T) {
	t.Parallel()
	for n, right := range map[int]bool{mostText: true, mostText + 1: false} {
		j := &remote.Job{Command: []string{"sh", "-c"}, Env: []string{"A=b"}}
		j.Command = append(j.Command, strings.Repeat("x", n-len("sh0-c0A=b0")-1)) // each argument ends in a zero byte
		if err := check(j); (err == nil) != right {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for n, right := range map[int]bool{255: true, 256: false} {
		j := &remote.Job{Command: []string{"sh"}, Files: map[string]string{strings.Repeat("x", n): Sum(nil)[7:]}}
		if err := check(j); (err == nil) != right {
			t.Errorf("a name of %d bytes: %v", n, err)
		}
	}
}

// FuzzParse checks that every accepted order is written back identically, and that a market can
// decide on it.
func FuzzParse(f *testing.F) {
	f.Add(strings.Replace(text, "JOB", Sum(Text(job())), 1))
	f.Add(strings.Replace(strings.Replace(text, "JOB", Sum(Text(job())), 1), "nodes 2", "nodes 1\ncpus 0.5", 1))
	f.Fuzz(func(t *testing.T, s string) {
		o, err := order.Parse(s)
		if err != nil {
			return
		}
		if n, err := Contract(o); err == nil {
			if again, err := About(HeadOf(o), o.Kind, n); err != nil || again.String() != s {
				t.Errorf("%q is written as %q, %v", s, again, err)
			}
		}
		got, err := Parse(o)
		if err != nil {
			return
		}
		if again, err := got.Order(HeadOf(o)); err != nil || again.String() != s {
			t.Errorf("%q is written as %q, %v", s, again, err)
		}
		r := got.Request()
		if err := r.Validate(); err != nil || math.IsInf(r.Due(), 0) {
			t.Errorf("%q: %v", s, err)
		}
	})
}

// TestHeld checks the lines of the resources that a node holds.
func TestHeld(t *testing.T) {
	t.Parallel()
	held := terms()
	held.CPUs, held.Memory, held.Disk, held.Bandwidth, held.Counts = 2, 8e9, 2e10, 1e6, map[string]int32{"gpu": 1, "fpga": 2}
	held.Licences = map[string]int32{"matlab": 2}
	o, err := held.Order(head)
	if err != nil {
		t.Fatal(err)
	}
	if want := "cpus 2\nmemory 8000000000\ndisk 20000000000\nbandwidth 1000000\ncount fpga 2,gpu 1\nlicence matlab 2\nwork 540\n"; !strings.Contains(o.String(), want) {
		t.Errorf("%s, want %s", o, want)
	}
	if got, err := Parse(o); err != nil || !reflect.DeepEqual(got, held) {
		t.Errorf("read as %+v, %v", got, err)
	}
	for _, wrong := range []string{"gpu 1,fpga 2", "gpu 0", "gpu -1", "gpu 1,gpu 1", "gpu", "GPU 1", "memory 1", "gpu 01", "gpu 1, fpga 2"} {
		again, err := order.Parse(strings.Replace(o.String(), "fpga 2,gpu 1", wrong, 1))
		if err != nil {
			continue
		}
		if got, err := Parse(again); err == nil {
			t.Errorf("count %s is read as %+v", wrong, got)
		}
	}
}
