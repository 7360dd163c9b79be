package script

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/outside"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/bidding"
	"bourse/hosts"
)

// ask returns the decision of a script about a request for two nodes on three hosts.
func ask(t *testing.T, text string, options map[string]any) (contracts.Decision, *outside.Policy, error) {
	t.Helper()
	s, err := Compile("mine.star", []byte(text), options, nil)
	if err != nil {
		return contracts.Decision{}, nil, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	bid, err := bidding.Table(rng).New("cheapest", nil)
	if err != nil {
		t.Fatal(err)
	}
	p := outside.New(s, s.Terms, bid, rng)
	market := new(policytest.Stand)
	for range 3 {
		market.Hosts = append(market.Hosts, policytest.Stall{Spec: hosts.Spec{CPUs: 2, Speed: 1, Cap: 1}, Price: 0.5})
	}
	r := policytest.Wish(10, 2, 0.25)
	return p.Decide(7, &r, market), p, p.Err()
}

// decide returns a script whose function decide has the given lines.
func decide(lines ...string) string {
	return "def decide(request, market):\n    " + strings.Join(lines, "\n    ") + "\n"
}

// TestDecide checks which parts of the market a script can read, and the decision for each
// answer.
func TestDecide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expression, want string }{
		{"request.id + request.nodes", "101"},
		{"request.work * request.nodes == request.total", "True"},
		{"request.due == request.submit + request.deadline", "True"},
		{"request.rate", "0.5"},
		{"market.now", "7.0"},
		{"market.fleet == len(market.hosts)", "True"},
		{"[p.host for p in market.place()]", "[0, 1]"},
		{"market.place()[0].bid", "0.25"},
		{"market.bid(market.hosts[2], rate=0.0000000019).bid", "1e-09"},
		{"market.hosts[1].price", "0.5"},
		{"market.hosts[1].free", "2"},
		{"market.hosts[1].divide(market.bid(market.hosts[1]))", "[1.0]"},
		{"market.hosts[1].room.memory", "0.0"},
		{"market.hosts[1].fits(request) and market.hosts[1].fits(request, idle=True)", "True"},
		{"market.hosts[1].affords(market.bid(market.hosts[1]))", "True"},
		{"[(c.resource, c.part, c.bid, c.price) for c in market.hosts[1].claims(market.bid(market.hosts[1]))]", `[(\"cpu\", 0.5, 0.25, 0.5)]`},
		{"market.priced", "[]"},
		{"market.contracts", "[]"},
		{"market.waiting", "[]"},
		{"sum([0.1, 0.2, 0.3]) == 0.1 + 0.2 + 0.3", "True"},
		{"sum([1, 2])", "3"},
		{"ulp(1.0) == 1 / 4503599627370496", "True"},
		{"math.sqrt(4)", "2.0"},
		{"[random(), random()] != [0.5, 0.5]", "True"},
	} {
		// The text of the value is the reason, restricted to the characters that reasons allow.
		_, _, err := ask(t, decide("return reject('<' + str("+c.expression+") + '>')"), nil)
		if err == nil || !strings.Contains(err.Error(), `"<`+c.want+`>"`) {
			t.Errorf("%s: %v, want %s", c.expression, err, c.want)
		}
	}
	d, _, err := ask(t, decide("return accept(market.place(), {'price': 0.5, 'n': 3, 'of': request})"), nil)
	if err != nil || d.Verdict != contracts.Accept || len(d.Placements) != 2 || d.Placements[1] != (contracts.Placement{Host: 1, Bid: 250_000_000}) {
		t.Errorf("accepted as %+v: %v", d, err)
	}
	if got := string(d.AppendJSON(nil)); got != `{"decision":"accept","price":0.5,"n":3,"of":99}` {
		t.Errorf("the note is %s", got)
	}
	if d, _, err = ask(t, decide("return defer()"), nil); err != nil || d.Verdict != contracts.Defer {
		t.Errorf("deferred as %+v: %v", d, err)
	}
}

// TestErrors checks that each error has the position in the file and describes the problem.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{decide("return reject(request.budgett)"), "mine.star:2:26: request has no field budgett; did you mean budget?"},
		{decide("return request.work / 0"), "mine.star:2:25: "},
		{decide("return 1"), "mine.star:1:1: decide returned int, want accept(…), reject(…) or defer()"},
		{decide("return reject('no\",\"decision\":\"accept')"), "mine.star:2:18: found the reason"},
		{decide("p = market.place()[0]", "return accept([p, p])"), "mine.star:3:18: accepted on host 0 twice"},
		{decide("return accept([market.hosts[0]])"), "mine.star:2:18: accept: found host, want placements"},
		{decide("return accept(market.place(), {'deadline': 1})"), "mine.star:2:18: found a number with the name deadline, which notes"},
		{decide("return accept(market.place(), {'x': 'y'})"), "the number x is string, want a number"},
		{decide("x = 0", "while True:", "    x = x + 1"), "mine.star:4:15: it has taken more than 1000000 steps"},
		{decide("return max(range(1 << 60))"), "mine.star:2:21: range: found more than 1000000 numbers"},
		{decide("return list(range(1 << 63 - 1))"), "mine.star:2:22: range: found more than 1000000 numbers"},
		{decide("return sum(range(0, -1 << 62, -1))"), "mine.star:2:21: range: found more than 1000000 numbers"},
		{decide("return reject(str(range(4, 1000000, 2))[3:6])"), `found the reason "ge("`},
		{"# " + strings.Repeat("x", 256<<10), "found 262146 bytes, want a script of at most 262144"},
		{decide("return market.hosts[0].percentile(1)"), "percentile: "},
		{decide("return market.contract(3)"), "contract: found 3, want the number of a contract"},
		{decide("return market.bid(3)"), "bid: found int, want a host"},
		{decide("decide(request, market)"), "function decide called recursively"},
		{decide("request.id = 3"), "mine.star:2:12: can't assign to .id field of request"},
		{"x = {}\n" + decide("x['a'] = request"), "frozen"},
		{"x = [].append\n" + decide("x(market.hosts[0])"), "frozen"},
		{"x = option('x', [])\n" + decide("x.append(market)"), "frozen"},
		{"x = lambda a, l=[]: l.append(a)\n" + decide("x(market)"), "frozen"},
		{"def f():\n    l = []\n    return lambda a: l.append(a)\nx = f()\n" + decide("x(market)"), "frozen"},
		{"load('x.star', 'y')\n" + decide("return defer()"), "mine.star:1:1: load is not available"},
		{"def decide(request:\n", "mine.star:1:20: "},
		{"x = undefined\n", "mine.star:1:5: undefined: undefined"},
		{"", "mine.star: found no function decide, want def decide(request, market)"},
		{"def decide(a):\n    return defer()\n", "want def decide(request, market)"},
		{"def start():\n    return {}\n" + decide("return defer()"), "want def decide(request, market, state)"},
		{"x = random()\n", "mine.star:1:11: random is for decide"},
		{decide("option('a', 1)"), "option is for the top of the file"},
		{"option('a', 1)\noption('a', 2)\n", "mine.star:2:7: option a is declared twice"},
		{"waiting = 'qeue'\n" + decide("return defer()"), `waiting: found "qeue", did you mean queue?`},
		{"tests = [1]\n" + decide("return defer()"), "mine.star: tests: found 1, want (reason"},
		{"def order(request):\n    return 1\n" + decide("return defer()"), `want waiting = "queue" or "scan"`},
	} {
		if _, _, err := ask(t, c.text, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n%v, want %s", c.text, err, c.want)
		}
	}
}

// TestPrints checks that a call that prints too much ends, and that a panic of the interpreter is an
// error of the script.
func TestPrints(t *testing.T) {
	t.Parallel()
	s, err := Compile("mine.star", []byte(decide("for i in range(100000):", "    print('x' * 1000)", "return defer()")), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for print, want := range map[*func(string)]string{
		new(func(text string) { n += len(text) }): "mine.star:3:14: it has printed more than 1048576 bytes",
		new(func(string) { panic("no memory") }):  "mine.star: found a statement that cannot be computed: no memory",
	} {
		s.Print = *print
		r := policytest.Wish(10, 2, 0.25)
		if _, err := s.Decide(&outside.Question{Request: &r}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if n > maxPrint || n < maxPrint/2 {
		t.Errorf("%d bytes were printed, want almost %d", n, maxPrint)
	}
}

// TestChecks checks that a call runs its check often, however its statements are written, and
// that a script is also guarded while it is loaded.
func TestChecks(t *testing.T) {
	t.Parallel()
	n := 0
	guard := func(c interface{ Cancel(reason string) }) func() {
		c.(interface{ CheckOften(func()) }).CheckOften(func() {
			if n++; n == 10 {
				c.Cancel("it is large")
			}
		})
		return func() {}
	}
	text := "def f():\n    x = [0]\n" + strings.Repeat("    x += x\n", 20) + "    return {'n': len(x)}\n"
	for _, c := range []struct{ end, want string }{
		{"x = f()\n", "mine.star:13:7: it is large"}, // after 16 steps, and 9 times 4
		{"def start():\n    return f()\n" + strings.Replace(decide("return defer()"), ")", ", state)", 1), "mine.star:11:7: it is large"},
	} {
		n = 0
		if _, err := Compile("mine.star", []byte(text+c.end), nil, guard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v after %d checks, want %s", c.end, err, n, c.want)
		}
	}
}

// TestOptions checks that an option accepts only values of the type of its default.
func TestOptions(t *testing.T) {
	t.Parallel()
	text := "limit = option('limit', 0.5, 'a limit')\nn = option('n', 3)\nword = option('word', 'a')\n" + decide("return reject('%s %s %s' % (limit, n, word))")
	for _, c := range []struct {
		options map[string]any
		want    string // reason, or part of the error
	}{
		{nil, "0.5 3 a"},
		{map[string]any{"limit": int64(2), "n": uint64(4), "word": "b"}, "2.0 4 b"},
		{map[string]any{"limit": "high"}, "mine.star:1:15: option limit: found high, want a value like its default, 0.5 (float)"},
		{map[string]any{"n": 2.5}, "option n: found 2.5"},
		{map[string]any{"limitt": 1.0}, `option found "limitt", did you mean limit?`},
	} {
		d, _, err := ask(t, text, c.options)
		if got := string(d.Reason); got != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %q, %v, want %s", c.options, got, err, c.want)
		}
	}
}

// TestDeclarations checks the declarations of a script, and that its policy has the property
// Forecasts if it asks for percentiles.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	s, err := Compile("mine.star", []byte(`
waiting, sharing, spot = "scan", "exclusive", True
tests = [("too dear", "price", "limit", "most", "its price")]
def order(request):
    return (-request.budget, request.submit)
def start():
    return {}
def ended(request, outcome, state):
    pass
def decide(request, market, state):
    return reject("too dear", {"price": market.hosts[0].percentile(0.5)})
`), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := s.Terms
	if d.Waiting != outside.Scan || d.Sharing != "exclusive" || !d.Spot || !d.Forecasts || d.Queues || !d.Ordered || !d.Reported || string(d.Start) != "{}" {
		t.Errorf("declares %+v", d)
	}
	if len(d.Tests) != 1 || d.Tests[0].Reason != "too dear" || !d.Tests[0].AtMost {
		t.Errorf("tests are %+v", d.Tests)
	}
	r := policytest.Wish(10, 2, 0.25)
	key, err := s.Key(&outside.Question{Request: &r})
	if err != nil || len(key) != 2 || key[0] != -50 {
		t.Errorf("key is %v: %v", key, err)
	}
}

// TestState checks that a state persists as JSON, and that what JSON cannot contain is an error
// with its path.
func TestState(t *testing.T) {
	t.Parallel()
	with := func(line string) string {
		return "def start():\n    return {'n': 0}\ndef decide(request, market, state):\n    " + line + "\n    return defer()\n"
	}
	_, p, err := ask(t, with("state['n'] += 1; state['a'] = [None, True, 2.0, 'x<é']"), nil)
	if want := `{"a":[null,true,2.0,"x\u003cé"],"n":1}`; err != nil || string(p.State()) != want {
		t.Errorf("state is %s: %v, want %s", p.State(), err, want)
	}
	for _, c := range []struct{ line, want string }{
		{"state['a'] = [1, market]", `state["a"][1] is market <market>, want None`},
		{"state[1] = 2", "state has the key 1, want text"},
		{"state['a'] = float('nan')", `state["a"] is float nan`},
		{"state['a'] = (1, 2)", `state["a"] is tuple`},
		{"state['a'] = state", "too deep or too large"},
		{"state['a'] = 'x' * 70000", "bytes as JSON, want at most 65536"},
		{"state['a'] = 1 << 70", `state["a"] is int`},
	} {
		if _, _, err := ask(t, with(c.line), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.line, err, c.want)
		}
	}
}

// TestTests checks that tests of a script run against markets that they describe, and that a
// failure has its position.
func TestTests(t *testing.T) {
	t.Parallel()
	var said []string
	all, err := Test("mine.star", []byte(`
def decide(request, market):
    on = market.place()
    print(request.nodes)
    return accept(on, {"price": market.hosts[on[0].host].price})
def test_a():
    a = decide(request(nodes=2, budget=4), market(hosts=[{"price": 0.5}, {"price": 0.25}, {"price": 0.5}]))
    equal([p.host for p in a.on], [1, 0])
    equal(a.numbers, {"price": 0.25})
def test_b():
    equal(decide(request(), market(hosts=[{"price": 0.5}])).verdict, "reject")
def test_busy():
    m = market(hosts=[{"cpus": 2, "on": [{}, {"number": 3}]}, {}], contracts=[{}, {"number": 3, "hosts": [0]}])
    equal([h.free for h in m.hosts], [0, 1])
def test_free():
    market(hosts=[{"free": 1}])
def test_on():
    market(hosts=[{"on": [3]}])
`), func(text string) { said = append(said, text) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Result{{Test: "test_a"}, {Test: "test_b", Failure: `mine.star:11:10: found "accept", want "reject"`}, {Test: "test_busy"},
		{Test: "test_free", Failure: "mine.star:16:11: market: hosts[0]: found free, which is computed from cpus and the tasks in on"},
		{Test: "test_on", Failure: "mine.star:18:11: market: hosts[0]: on[0]: found 3, want a dict, such as {}"}}
	if !slices.Equal(all, want) || strings.Join(said, " ") != "2 1" {
		t.Errorf("results are %+v, printed %v, want %+v", all, said, want)
	}
	if _, err := Test("mine.star", []byte("def decide(request, market):\n    return defer()\n"), nil, nil); err == nil || !strings.Contains(err.Error(), "found no tests") {
		t.Errorf("a script without tests: %v", err)
	}
}

// TestExamples checks that the tests in the example policies pass.
func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../experiments/examples/policies/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Test(file, text, func(string) {}, nil)
		if err != nil || slices.ContainsFunc(all, func(r Result) bool { return r.Failure != "" }) {
			t.Errorf("%s: %v, %v", file, all, err)
		}
	}
}
