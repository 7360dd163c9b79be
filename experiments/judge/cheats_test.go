package judge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"bourse/bank/keys"
	"bourse/experiments"
	"bourse/experiments/author"
	"bourse/hosts/confine"
)

func TestMain(m *testing.M) {
	confine.Main()
	os.Exit(m.Run())
}

// study writes a small study and its secret, and returns its path.
func study(t *testing.T, settings string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "study.yaml")
	text := fmt.Sprintf("preset: paper\nname: study\nbase: {workload: {model: {jobs: 10}}}\nconfigurations: [{name: pareto-high}]\njudge: {metric: efficiency_0.5, sealed: 'sha256:%s', %s}\n", sum([]byte("secret")), settings)
	for file, text := range map[string]string{path: text, filepath.Join(filepath.Dir(path), "judged.jsonl"): "a secret\n"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// judging returns a comparison of a candidate with the policy be. Text is the candidate's script, or
// its program if command is set.
func judging(t *testing.T, study, text string, command ...string) *Judging {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mine.star")
	ask := Ask{Study: study, Champion: Source{Name: "be"}, Candidate: Source{Source: author.Source{File: file}}}
	if command != nil {
		ask.Candidate.Source = author.Source{Command: append(command, file)}
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	j, err := New(ask)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

const (
	script = "tests = []\ndef decide(request, market):\n    on = market.place()\n    if type(on) == 'string':\n        return reject(on)\n    n = int(request.id)\n    %s\n    return accept(on)\n"

	python = `import json, os, socket, sys, time
hello = json.loads(sys.stdin.readline())
print('{"hello":"bourse policy","version":1,"name":"x","sees":["hosts"]}', flush=True)
asked = 0
def cheat(q):
    global asked
    asked += 1
    %s
for line in sys.stdin:
    q = json.loads(line)
    try:
        gained = cheat(q)
    except OSError:
        gained = False
    a = {"reject": "it gained"} if gained or not isinstance(q["place"], list) else {"accept": q["place"]}
    print(json.dumps(dict(a, ask=q["ask"])), flush=True)
`
)

// TestCheats checks that candidates that cheat are not called better. Those that try to read
// or write beyond their file must also not succeed.
func TestCheats(t *testing.T) {
	t.Parallel()
	path := study(t, "screen: 2, score: {from: 4, to: 8}, gates: {violations: 1, worst: 1}")
	parent := os.Getpid()
	for _, c := range []struct{ name, gate, text string }{
		{"the true work", "error", "request.runtime"},
		{"the future", "error", "market.hosts[0].history"},
		{"the seed", "error", "market.seed"},
		{"a forged number", "error", "if n == 3: return accept(on, {'decision': 1})"},
		{"a forged reason", "error", `if n == 3: return reject('no","decision":"accept')`},
		{"NaN", "error", "if n == 3: return accept(on, {'x': float('nan')})"},
		{"one host twice", "error", "if len(on) > 1: return accept([on[0]] * len(on))"},
		{"a bid above the budget", "error", "if n == 3: return accept([market.bid(p.host, rate=request.rate * 2) for p in on])"},
		{"a loop at large jobs", "error", "while request.work > 100: pass"},
		{"many steps", "steps", "for i in range(40000): pass"},
		{"the study", "", fmt.Sprintf("python: return open(%q).read() != ''", path)},
		{"judged.jsonl", "", fmt.Sprintf("python: return open(%q).read() != ''", filepath.Join(filepath.Dir(path), "judged.jsonl"))},
		{"the memory of its parent", "", fmt.Sprintf("python: return open('/proc/%d/mem', 'rb') is not None or open('/proc/%d/environ', 'rb') is not None", parent, os.Getppid())},
		{"a signal to its parent", "", fmt.Sprintf("python: return os.kill(%d, 0) is None", parent)},
		{"a socket", "", "python: return socket.create_connection(('127.0.0.1', 22), 1) is not None"},
		{"a file next to the results", "", fmt.Sprintf("python: return open(%q, 'w') is not None", filepath.Join(filepath.Dir(path), "x"))},
		{"another policy by writing its own file", "", "python: return open(sys.argv[0], 'w') is not None"},
		{"memory across questions", "error", "python: return asked % 2 == 0"},
		{"a clock", "error", "python: return time.monotonic_ns() // 64 % 2 == 0"},
		{"death at large jobs", "error", "python: return q['request']['work'] > 100 and sys.exit(0)"},
		{"memory in a global list", "error", "tests.append(n)"},
		{"a long operation", "error", "l = list(range(1000000)); [-1 in l for i in range(100000)]"},
		{"the environment", "", "python: return set(os.environ) - {'PATH', 'LANG', 'HOME', 'LC_CTYPE'} != set()"},
		{"files of its parent that are open", "", "python: return len(os.listdir('/proc/self/fd')) > 4"},
		{"other processes", "", "python: return len([p for p in os.listdir('/proc') if p.isdigit()]) > 2"},
		{"a message to its other process", "", "python: s = socket.socket(socket.AF_UNIX); s.bind('\\0cheat%d' % asked); c = socket.socket(socket.AF_UNIX); return any(c.connect_ex('\\0cheat%d' % n) == 0 for n in range(asked + 1, asked + 9))"},
		{"a lock for its other process", "", "python: import fcntl; global held; held = open(sys.argv[0])\n    try: fcntl.flock(held, 6)\n    except BlockingIOError: return True"},
		{"a file for its other process", "", "python: seen = os.path.exists('/tmp/cheat') and open('/tmp/cheat').read() != str(os.getpid()); open('/tmp/cheat', 'w').write(str(os.getpid())); return seen"},
		{"a second answer", "error", "python: print('{\"ask\":%d,\"accept\":[],\"reject\":\"no\"}' % q['ask'], flush=True)"},
		{"a flood", "error", "python: print('x' * (2 << 20), flush=True)"},
		{"infinity", "error", "if n == 3: return accept(on, {'x': 1e308 * 10})"},
		{"a large integer", "error", "if n == 3: return accept(on, {'x': 1 << 63})"},
		{"a name that looks like another", "error", "if n == 3: return accept(on, {'deсision': 1})"}, // with a Cyrillic letter
		{"a long explanation", "error", "if n == 3: return reject('x' * 1000000)"},
		{"many numbers", "error", "if n == 3: return accept(on, {'x%d' % i: i for i in range(1000)})"},
		{"another user's host", "error", "if n == 3: return accept([tests])"},
		{"a failure at unknown jobs", "error", "if request.budget not in [1, 2]: fail('not a public job')"},
		{"a repeated field", "error", "python: print('{\"ask\":%d,\"reject\":\"no\",\"reject\":\"yes\"}' % q['ask'], flush=True)"},
		{"answers before questions", "error", "python: asked == 1 and [print('{\"ask\":%d,\"reject\":\"no\"}' % i, flush=True) for i in range(1, 50)]"},
		{"a bid of 1e308", "error", "python: q['place'] = [{'host': 0, 'bid': 1e308}] if isinstance(q['place'], list) else q['place']"},
		{"infinity in JSON", "error", "python: print('{\"ask\":%d,\"reject\":\"no\",\"numbers\":{\"x\":1e999}}' % q['ask'], flush=True)"},
		{"the output of other processes", "", "python: return len([f for p in os.listdir('/proc') if p.isdigit() and int(p) != os.getpid() for f in os.listdir('/proc/%s/fd' % p)]) > 0"},
		{"silence at large jobs", "error", "python: return q['request']['work'] > 100 and time.sleep(60)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body, program := strings.CutPrefix(c.text, "python: ")
			var command []string
			text := fmt.Sprintf(script, body)
			if program {
				if _, err := exec.LookPath("python3"); err != nil {
					t.Skip("python3 is not installed")
				}
				text, command = fmt.Sprintf(python, body), []string{"python3"}
			}
			j := judging(t, path, text, command...)
			f, err := j.Screen(t.Context(), experiments.Options{})
			if err != nil && strings.Contains(err.Error(), "cannot confine") {
				t.Skip(err)
			}
			if err != nil || f.Gate != c.gate {
				t.Fatalf("%v, want the gate %q: %+v", err, c.gate, f)
			}
			for _, by := range f.Configurations {
				if n := by.Rejections["it gained"]; n > 0 {
					t.Errorf("it gained %d times", n)
				}
			}
			o, err := judging(t, path, text, command...).Score(t.Context(), 7, experiments.Options{})
			if err != nil || o.Gate != c.gate || o.Verdict == Better || (c.gate != "") != (o.Verdict == Void) {
				t.Errorf("%v, the verdict is %+v", err, o)
			}
		})
	}
}

// TestMemory checks that the verdict on a program that remembers the order of runs is void,
// although its answers are the same in each process that has run the same runs. The second program also tries to tell its
// other processes what it remembers, by locks on its file.
func TestMemory(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	path := study(t, "screen: 2, score: {from: 60, to: 60}, gates: {violations: 1, worst: 1}")
	text := `import fcntl, json, struct, sys, zlib
sys.stdin.readline()
print('{"hello":"bourse policy","version":1,"name":"x","state":{"run":""}}', flush=True)
file, tells = open(sys.argv[0]), False
def lock(command, kind, run):
    try:
        return struct.unpack("hhqqi", fcntl.fcntl(file, command, struct.pack("hhqqi", kind, 0, zlib.crc32(run.encode()), 1, 0)))[0]
    except OSError:
        return fcntl.F_UNLCK
try:
    first = not tells or fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB) is None
except OSError as e:
    first = not isinstance(e, BlockingIOError)
runs = []
for line in sys.stdin:
    q = json.loads(line)
    run = str(q["request"]) if q["ask"] == 1 else q["state"]["run"]
    if run not in runs:
        runs.append(run)
    late = runs.index(run) >= 5
    if tells and first and late:
        lock(fcntl.F_SETLK, fcntl.F_RDLCK, run)
    if not first:
        late = lock(fcntl.F_GETLK, fcntl.F_WRLCK, run) != fcntl.F_UNLCK
    a = {"accept": q["place"]} if isinstance(q["place"], list) and not late else {"reject": "late"}
    print(json.dumps(dict(a, ask=q["ask"], state={"run": run})), flush=True)
`
	for _, tells := range []string{"", "tells"} {
		j := judging(t, path, text, "python3")
		if tells != "" {
			j = judging(t, path, strings.Replace(text, "False", "True", 1), "python3")
		}
		o, err := j.Score(t.Context(), 7, experiments.Options{Workers: 1})
		if err != nil && strings.Contains(err.Error(), "cannot confine") {
			t.Skip(err)
		}
		if err != nil || o.Gate != "error" || o.Verdict != Void {
			t.Errorf("%q: %v, the verdict is %+v", tells, err, o)
		}
	}
}

// TestStudyProgram checks that a program that the study names is another candidate if its file
// changes, and that it must be confined.
func TestStudyProgram(t *testing.T) {
	t.Parallel()
	path := study(t, "judgements: 20")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(path), "mine.py")
	judged := func(confined, unconfined bool, program string) (*Judging, error) {
		high := fmt.Sprintf("{name: pareto-high, admission: [be, {name: program, label: mine, command: [python3, mine.py], files: [mine.py], confined: %t}]}", confined)
		if err := errors.Join(os.WriteFile(path, []byte(strings.Replace(string(text), "{name: pareto-high}", high, 1)), 0o644), os.WriteFile(file, []byte(program), 0o644)); err != nil {
			t.Fatal(err)
		}
		return New(Ask{Study: path, Champion: Source{Name: "be"}, Candidate: Source{Name: "mine"}, Unconfined: unconfined})
	}
	if _, err := judged(false, false, "1"); err == nil || !strings.Contains(err.Error(), "want confined: true") {
		t.Errorf("a program that is not confined: %v", err)
	}
	if j, err := judged(false, true, "1"); err != nil || j.confinement != "none" {
		t.Errorf("with --unconfined: %v, %+v", err, j)
	}
	one, err := judged(true, false, "1")
	two, other := judged(true, false, "2")
	if err != nil || other != nil || one.confinement != "program" || one.Hashes.Study != two.Hashes.Study || one.Hashes.Candidate == two.Hashes.Candidate {
		t.Errorf("%v, %v: %+v and %+v", err, other, one, two)
	}
}

// TestLearned checks that a candidate that has learned the public jobs gains on these jobs. It also
// checks that the verdict on the sealed seeds is not better.
func TestLearned(t *testing.T) {
	t.Parallel()
	path := study(t, "screen: 8, score: {from: 25, to: 50}, gates: {violations: 1, worst: 1}")
	plain := fmt.Sprintf(script, "")
	j := judging(t, path, plain)
	known, late := []string{}, 0
	err := j.prepare(j.experiment.Seed, 8)
	if err == nil {
		err = j.prepared.Each(context.Background(), experiments.Options{}, func(r *experiments.Replication) error {
			for i := range r.Runs[0].Jobs {
				if job := &r.Runs[0].Jobs[i]; job.Admitted() && !job.Fulfilled() {
					late++
					known = append(known, strconv.FormatFloat(job.Estimate, 'g', -1, 64))
				}
			}
			return nil
		})
	}
	if err != nil || late == 0 {
		t.Fatal(err, late)
	}
	cheat := fmt.Sprintf(script, "if request.work in ["+strings.Join(known, ", ")+"]: return reject('learned')")
	f, err := judging(t, path, cheat).Screen(t.Context(), experiments.Options{})
	if err != nil || f.Score <= 0 || f.Configurations[0].Rejections["learned"] == 0 {
		t.Fatalf("%v: it gained %+v on public seeds, want something", err, f)
	}
	o, err := judging(t, path, cheat).Score(t.Context(), 7, experiments.Options{Workers: 2})
	if err != nil || o.Verdict == Better {
		t.Errorf("%v, the verdict is %+v", err, o)
	}
}

// TestBook checks that judging near copies uses up the judgements of an epoch. It also checks that
// another secret is refused, and that a record is refused if any of its bytes has changed.
func TestBook(t *testing.T) {
	t.Parallel()
	path := study(t, "judgements: 5")
	j := judging(t, path, fmt.Sprintf(script, ""))
	if _, err := j.Seed([]byte("another"), 1); err == nil {
		t.Error("another secret was accepted")
	}
	one, err := j.Seed([]byte("secret"), 1)
	if two, wrong := j.Seed([]byte("secret"), 2); err != nil || wrong != nil || one == two {
		t.Errorf("%v, %v: the seeds of two epochs are %d and %d", err, wrong, one, two)
	}
	private, public, err := keys.New(strings.NewReader(strings.Repeat("x", 64)), "referee")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "judged.jsonl")
	refused := 0
	var last *Signed
	for n := range 1000 {
		j.Hashes.Candidate = sum(fmt.Appendf(nil, "copy %d", n))
		s, err := Add(file, j, 1, Outcome{Verdict: Undecided, N: 1600}, private)
		if err != nil {
			refused++
			continue
		}
		last = s
	}
	if refused != 995 {
		t.Errorf("%d of 1,000 copies were refused, want 995", refused)
	}
	j.Hashes = last.Record.Hashes
	if err := last.Repeats(j, last.Record.Outcome); err != nil {
		t.Error(err)
	}
	changed := *last
	if changed.Record.Margin /= 2; changed.Repeats(j, last.Record.Outcome) == nil {
		t.Error("a margin that is not the study's was accepted")
	}
	text := line(last)
	none := func(*Signed) []byte { return nil }
	if _, err := Verify(text, public, none); err != nil {
		t.Error(err)
	}
	for i := range text {
		for _, flip := range []byte{1, 0x20} {
			changed := []byte(string(text))
			changed[i] ^= flip
			if _, err := Verify(changed, public, none); err == nil {
				t.Errorf("byte %d changed to %q was accepted", i, changed[i])
			}
		}
	}
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(all), "undecided", "better", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil {
		t.Error("a changed file was accepted")
	}
}

// TestBookShared checks that judgements that run at the same time lose no record and do not exceed
// the number that the study allows. The same candidate gets one record. It also checks that a
// forged line, which follows the last one, is not believed.
func TestBookShared(t *testing.T) {
	t.Parallel()
	j := judging(t, study(t, "judgements: 20"), fmt.Sprintf(script, ""))
	private, public, err := keys.New(strings.NewReader(strings.Repeat("x", 64)), "referee")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "judged.jsonl")
	var all sync.WaitGroup
	var refused atomic.Int32
	for n := range 60 {
		all.Go(func() {
			own := *j
			own.Hashes.Candidate = sum(fmt.Appendf(nil, "copy %d", n/2))
			if _, err := Add(file, &own, 1, Outcome{Verdict: Undecided, N: n}, private); err != nil {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	b, err := Open(file)
	if err != nil || len(b.all) != 20 || refused.Load() != 20 {
		t.Fatalf("%v: %d records, and %d refused, want 20 of 30 candidates, and 20 of 60 judgements refused", err, len(b.all), refused.Load())
	}
	j.Settings.Judgements = 30
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range []*Signed{
		{Record: b.Record(j, 1, Outcome{Verdict: Better, N: 25}), Key: public, Signature: b.all[0].Signature},
		{Record: b.Record(j, 1, Outcome{Verdict: Better, N: 25})},
	} {
		if err := os.WriteFile(file, append(slices.Clone(text), append(line(forged), '\n')...), 0o644); err != nil {
			t.Fatal(err)
		}
		if s, err := Add(file, j, 1, Outcome{Verdict: Worse, N: 25}, private); err == nil && s.Record.Verdict != Worse {
			t.Errorf("a forged record was believed: %+v", s)
		}
	}
}

// TestOwnFiles checks that a candidate whose file is the secret, the study or its judgements, or
// a link to one of them, is refused.
func TestOwnFiles(t *testing.T) {
	t.Parallel()
	path := study(t, "judgements: 20")
	secret, other := filepath.Join(filepath.Dir(path), "secret"), filepath.Join(t.TempDir(), "data.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{secret, path, Judged(path), os.Args[0]} {
		if err := errors.Join(os.RemoveAll(other), os.Symlink(to, other)); err != nil {
			t.Fatal(err)
		}
		for _, of := range []author.Source{{Command: []string{"python3", "mine.py", other}}, {File: other}} {
			ask := Ask{Study: path, Champion: Source{Name: "be"}, Candidate: Source{Source: of}, Secrets: []string{secret, ""}}
			if _, err := New(ask); (err != nil && strings.Contains(err.Error(), "must not read")) != (to != os.Args[0]) {
				t.Errorf("a link to %s: %v", to, err)
			}
		}
	}
}

// TestDecide checks each verdict, and the rounding of its interval.
func TestDecide(t *testing.T) {
	t.Parallel()
	j := judging(t, study(t, "judgements: 20"), fmt.Sprintf(script, ""))
	values := func(mean, spread float64, n int) (xs []float64) {
		for i := range n {
			xs = append(xs, mean+spread*float64(2*(i%2)-1))
		}
		return xs
	}
	for _, c := range []struct {
		diffs  []float64
		want   string
		lo, hi float64
	}{
		{values(0.2, 0.05, 25), Undecided, math.NaN(), 0},
		{values(0.2, 0.05, 100), Better, 0.17, 0.23},
		{values(-0.2, 0.05, 100), Worse, -0.23, -0.17},
		{values(0.005, 0.05, 800), Alike, -0.01, 0.02},
		{values(0, 0.05, 100), Undecided, -0.03, 0.03},
		{values(0, 0, 100), Undecided, -0.05, 0.05},
		{values(0, 0, 400), Alike, -0.02, 0.02},
		{values(0.1, 0, 400), Undecided, math.NaN(), 0},
	} {
		o := j.decide(Outcome{N: len(c.diffs)}, c.diffs, 0.5)
		if o.Verdict != c.want || math.IsNaN(c.lo) != (o.Lo == nil) || o.Lo != nil && (*o.Lo != c.lo || *o.Hi != c.hi) {
			t.Errorf("%d differences from %v: %+v", len(c.diffs), c.diffs[0], o)
			if o.Lo != nil {
				t.Error(*o.Lo, *o.Hi)
			}
		}
	}
}
