package program

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/outside"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/bidding"
	"bourse/hosts"
)

// connect starts a Python program whose loop has the given body and returns its policy.
func connect(t *testing.T, limit float64, hello, body string) (*outside.Policy, error) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	text := "import json, os, random, sys, time\nsys.stdin.readline()\nprint('" + hello + "', flush=True)\nn = 0\nfor line in sys.stdin:\n    q = json.loads(line)\n    n += 1\n" +
		"    def say(**a): print(json.dumps(dict(a, ask=q['ask'])), flush=True)\n    " + body + "\n"
	o := &outside.Program{Command: []string{"python3", "-c", text}, Timeout: limit}
	if _, err := Connect(o, []hosts.Spec{{Name: "h0", CPUs: 2, Speed: 1}}, nil); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		for _, p := range o.Mind.(*mind).idle {
			p.end()
		}
	})
	rng := rand.New(rand.NewPCG(1, 2))
	bid, err := bidding.Table(rng).New("cheapest", nil)
	if err != nil {
		t.Fatal(err)
	}
	return outside.New(o.Mind, o.Terms, bid, rng), nil
}

const hi = `{"hello":"bourse policy","version":1,"name":"x","sees":["hosts","contracts","waiting"],"percentiles":[0.6],"random":2,"state":{"n":0}}`

// market is the text of a market with three hosts.
func market() *policytest.Stand {
	s := new(policytest.Stand)
	for range 3 {
		s.Hosts = append(s.Hosts, policytest.Stall{Spec: hosts.Spec{CPUs: 2, Speed: 1}, Price: 0.5, Percentile: 1})
	}
	return s
}

// TestAnswers checks the questions that a program receives, and that its state returns with
// each question.
func TestAnswers(t *testing.T) {
	t.Parallel()
	p, err := connect(t, 60, hi, "say(accept=q['place'], numbers={'price': q['hosts'][1]['price'], 'f': q['hosts'][1]['percentile'][0], 'n': q['state']['n'], 'drawn': len(q['random'])}, state={'n': q['state']['n'] + 1})")
	if err != nil {
		t.Fatal(err)
	}
	r := policytest.Wish(10, 2, 0.25)
	for n, want := range []string{`{"decision":"accept","price":0.5,"f":0.6,"n":0,"drawn":2}`, `{"decision":"accept","price":0.5,"f":0.6,"n":1,"drawn":2}`} {
		d := p.Decide(7, &r, market())
		if got := string(d.AppendJSON(nil)); p.Err() != nil || got != want || len(d.Placements) != 2 || d.Placements[0].Bid != 250_000_000 {
			t.Errorf("question %d: %s %v, %v, want %s", n, got, d.Placements, p.Err(), want)
		}
	}
}

// TestBadPrograms checks that each failure of a program results in an error that describes the
// failure.
func TestBadPrograms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, hello, body, want string }{
		{"dies", hi, "sys.exit('out of luck')", "ended without an answer (exit status 1): out of luck"},
		{"stays silent", hi, "time.sleep(100)", "found no answer within 1s"},
		{"sends garbage", hi, "print('garbage', flush=True)", `found the line "garbage", want a JSON object`},
		{"sends a long line", hi, "print('x' * (1 << 21), flush=True)", "an answer of more than 1048576 bytes"},
		{"answers another question", hi, "q['ask'] = 7; say(defer=True, state={})", `want the field ask with the value 1`},
		{"answers twice in a line", hi, "say(defer=True, reject='no')", "found 2 of the fields"},
		{"does not answer", hi, "say()", "found 0 of the fields"},
		{"has a field of its own", hi, "say(defer=True, x=1)", `unknown field "x"`},
		{"forges a reason", hi, `say(reject='no","decision":"accept')`, "found the reason"},
		{"takes an invalid host", hi, "say(accept=[{'host': 7, 'bid': 0.1}, {'host': 0, 'bid': 0.1}])", "accepted on host 7, want 0 to 2"},
		{"sends NaN", hi, "say(defer=True, numbers={'x': float('nan')})", "want a JSON object"},
		{"sends a list", hi, "print([1], flush=True)", "want a JSON object: found array"},
		{"sends a huge number", hi, "print('{\"ask\":%d,\"defer\":true,\"numbers\":{\"x\":%s}}' % (q['ask'], '9' * 100000), flush=True)", "numbers: found " + strings.Repeat("9", 60) + "… under x"},
		{"sends text as a number", hi, "say(defer=True, numbers={'x': 'y'})", "numbers: found y under x"},
		{"gives two answers to one question", hi, "say(reject='no', numbers={'x': random.random()}, state={})", "found two answers to one question"},
		{"has a memory", hi, "say(reject='no', numbers={'x': n}, state={})", "found two answers to one question"},
		{"repeats a field", hi, `print('{"ask":%d,"reject":"no","Reject":"yes"}' % q['ask'], flush=True)`, "found two fields reject"},
		{"is never the same", `{"hello":"bourse policy","version":1,"name":"' + str(os.getpid()) + '"}`, "say(reject='no')", "found two hello messages"},
		{"is newer", `{"hello":"bourse policy","version":2}`, "pass", `version 2, want "bourse policy" of version 1`},
		{"declares what does not exist", `{"hello":"bourse policy","version":1,"order":1}`, "pass", `unknown field "order"`},
		{"sees the future", `{"hello":"bourse policy","version":1,"sees":["future"]}`, "pass", `sees: found "future"`},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			limit := 60.0
			if c.what == "stays silent" {
				limit = 1
			}
			p, err := connect(t, limit, c.hello, c.body)
			for range 3 {
				if err == nil {
					r := policytest.Wish(10, 2, 0.25)
					p.Decide(7, &r, market())
					err = p.Err()
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// FuzzAnswer checks that the parser does not panic for any line and rejects invalid answers.
func FuzzAnswer(f *testing.F) {
	for _, line := range []string{
		`{"ask":1,"accept":[{"host":0,"bid":0.25},{"host":1,"bid":0.1}],"numbers":{"a":1,"b":1.5,"c":{"contract":3}},"state":{"n":[1]}}`,
		`{"ask":1,"reject":"no"}`, `{"ask":1,"defer":true}`, `{"ask":1,"numbers":[]}`, `{"ask":1,"accept":[{"host":-1,"bid":1e300}]}`, `null`, `{"ask":1,"state":{`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a, err := outside.ParseAnswer([]byte(line), 1, false)
		if err != nil {
			return
		}
		r := policytest.Wish(10, 2, 0.25)
		d, err := (&outside.Question{Request: &r, View: market()}).Check(&a)
		if err != nil {
			return
		}
		if d.Verdict == contracts.Accept && len(d.Placements) != 2 {
			t.Errorf("%q is accepted on %d hosts", line, len(d.Placements))
		}
		if note := string(d.AppendJSON(nil)); strings.Count(note, `"decision":`) != 1 {
			t.Errorf("%q writes the note %s", line, note)
		}
	})
}

// TestHiddenChoice checks that a program cannot predict from a question whether the question is
// asked twice. The test's program remembers earlier questions, except for those that would be
// asked twice if the choice depended only on the hash of the question.
func TestHiddenChoice(t *testing.T) {
	t.Parallel()
	p, err := connect(t, 60, hi, "import hashlib; say(reject='no', numbers={'x': n if q['ask'] > 2 and hashlib.sha256(line.encode()).digest()[0] % 64 else 0}, state={})")
	for range 3000 {
		if err == nil {
			r := policytest.Wish(10, 2, 0.25)
			p.Decide(7, &r, market())
			err = p.Err()
		}
	}
	if err == nil || !strings.Contains(err.Error(), "found two answers to one question") {
		t.Errorf("%v, want that the memory is found", err)
	}
}

// BenchmarkRoundTrip measures a question to the policy sac in Python, and its answer. A question has
// about 1.3 KB, or 27 KB with 50 contracts that have 350 tasks. They are to take at most 150 and 600 µs.
func BenchmarkRoundTrip(b *testing.B) {
	if _, err := exec.LookPath("python3"); err != nil {
		b.Skip("python3 is not installed")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	bid, err := bidding.Table(rng).New("cheapest", nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{0, 50} {
		view, fleet := new(policytest.Stand), make([]hosts.Spec, 15)
		for h := range fleet {
			fleet[h] = hosts.Spec{Name: fmt.Sprint("h", h), CPUs: 50, Speed: 1}
			view.Hosts = append(view.Hosts, policytest.Stall{Spec: fleet[h], Price: 0.0312, Percentile: 0.0415})
		}
		for c := range n {
			r := policytest.Wish(10, 7, 0.25)
			r.ID = contracts.ID(c + 1)
			view.Contracts = append(view.Contracts, contracts.Contract{Request: r, Rate: 0.5})
			for h := range r.Nodes {
				on := &view.Hosts[(7*c+h)%len(fleet)]
				on.Allocations = append(on.Allocations, contracts.Allocation{Contract: int32(c), Bid: 1_234_567, Rate: 0.75, Paying: 1, Of: 7, Share: hosts.Share{Weight: 1}})
			}
		}
		o := &outside.Program{Command: []string{"python3", "../examples/policies/sac.py"}, Timeout: 60}
		if _, err := Connect(o, fleet, nil); err != nil {
			b.Fatal(err)
		}
		m := o.Mind.(*mind)
		m.parts.Contracts = true
		p, r := outside.New(m, o.Terms, bid, rng), policytest.Wish(10, 4, 0.25)
		size := 0
		p.Observe(func(q *outside.Question, _ *contracts.Decision) {
			line, err := json.Marshal(q.Line(m.parts))
			if size = len(line); err != nil {
				b.Fatal(err)
			}
		})
		p.Decide(7, &r, view)
		p.Observe(nil)
		b.Run(fmt.Sprintf("%d_bytes", size), func(b *testing.B) {
			for b.Loop() {
				if p.Decide(7, &r, view); p.Err() != nil {
					b.Fatal(p.Err())
				}
			}
		})
	}
}
