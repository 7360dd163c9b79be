package queue

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/broker"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market/forecast"
)

// golden calls f with each golden case of a kind, in the folder that BOURSE_GOLDEN_MECHANISMS
// names or in testdata.
func golden[I, E any](t *testing.T, kind string, f func(t *testing.T, in I, want E)) {
	t.Helper()
	t.Parallel()
	folder := os.Getenv("BOURSE_GOLDEN_MECHANISMS")
	if folder == "" {
		folder = filepath.Join("testdata", "golden")
	}
	text, err := os.ReadFile(filepath.Join(folder, kind+".json"))
	check(t, err)
	var file struct {
		Cases []struct {
			ID     string
			Input  I
			Expect E
		}
	}
	check(t, json.Unmarshal(text, &file))
	if len(file.Cases) == 0 {
		t.Fatalf("no case of kind %s", kind)
	}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) { f(t, c.Input, c.Expect) })
	}
}

// A goldenJob is a job in a golden case of a queue.
type goldenJob struct {
	ID       int64
	User     string
	Submit   float64
	Nodes    int
	Runtime  float64
	Estimate *float64
}

// numbering returns the numbers of users by name, in the order of their names.
func numbering(names ...string) map[string]int64 {
	slices.Sort(names)
	numbers := map[string]int64{}
	for _, name := range slices.Compact(names) {
		numbers[name] = int64(len(numbers))
	}
	return numbers
}

// noting is a policy that stores the start that each admission reports.
type noting struct {
	contracts.Policy
	starts map[string]float64
}

func (n *noting) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	actions := n.Policy.Handle(now, e, m)
	for i := range actions {
		if a := &actions[i]; a.Verb == contracts.Admit {
			for k := range a.Decision.Numbers {
				if name, x := a.Decision.Numbers[k].Value(); name == "start" {
					n.starts[strconv.FormatInt(int64(m.Request(a.Contract).ID), 10)] = x
				}
			}
		}
	}
	return actions
}

// run submits jobs to a market of hosts with one processor under p, and returns the start time
// of each job.
func run(t tb, p contracts.Policy, fleet int, jobs []goldenJob, users map[string]int64) map[string]float64 {
	t.Helper()
	l := bank.New(nil)
	user := must(l.Account("user"))
	check(t, l.Mint(0, user, must(bank.Dollars(1e6))))
	c := broker.Config{
		Provider: must(l.Account("provider")), Teller: l, Window: 300, Policy: p,
		Sharing: must(sharing.Table().New("exclusive", nil)), Payment: must(broker.Payments().New("free", nil)),
		Forecast: must(forecast.Table().New("chebyshev", nil)), Ties: rand.New(rand.NewPCG(0, 0)),
	}
	for range fleet {
		c.Fleet = append(c.Fleet, sim.New(hosts.Spec{CPUs: 1, Speed: 1}))
		c.Owners = append(c.Owners, c.Provider)
	}
	b := broker.New(c)
	starts := map[string]float64{}
	ended := func() {
		for _, s := range b.Ended() {
			starts[strconv.FormatInt(int64(s.ID), 10)] = s.Admitted
		}
	}
	late := b.Late(nil)
	advance := func(to float64) { // process events, including the ticks that follow submissions
		for late.Next() < to {
			at := late.Next()
			check(t, b.Advance(at))
			check(t, late.Advance(at))
			ended()
		}
		check(t, b.Advance(to))
		ended()
	}
	slices.SortStableFunc(jobs, func(a, b goldenJob) int {
		if a.Submit != b.Submit {
			return int(math.Copysign(1, a.Submit-b.Submit))
		}
		return int(a.ID - b.ID)
	})
	for _, j := range jobs {
		advance(j.Submit)
		estimate := j.Runtime
		if j.Estimate != nil {
			estimate = *j.Estimate
		}
		must(b.Submit(j.Submit, &contracts.Request{
			ID: contracts.ID(j.ID), Submit: j.Submit, Owner: user, User: users[j.User], Work: estimate, Nodes: j.Nodes, PerHost: true,
			SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 1e9, RunsOn: true, Soft: true},
		}, hosts.Task{Work: j.Runtime}))
		ended()
	}
	for at := min(b.Next(), late.Next()); !math.IsInf(at, 1); at = min(b.Next(), late.Next()) {
		if late.Next() < b.Next() {
			check(t, b.Advance(at))
			check(t, late.Advance(at))
		} else {
			check(t, b.Advance(at))
		}
		ended()
	}
	return starts
}

// sameStarts compares the start times of each job.
func sameStarts(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	for id, at := range want {
		if x, ok := got[id]; !ok || math.Abs(x-at) > 1e-9*max(1, at) {
			t.Errorf("%s: job %s at %v, want %v", what, id, x, at)
		}
	}
}

type goldenRun struct {
	Hosts    int
	HalfLife float64 `json:"half_life"`
	Period   float64
	Shares   map[string]float64
	History  []struct {
		User     string
		Nodes    int
		From, To float64
	}
	Jobs []goldenJob
}

func TestGoldenConservative(t *testing.T) {
	golden(t, "conservative", func(t *testing.T, in goldenRun, want struct{ Starts, Reserved map[string]float64 }) {
		p := &noting{must(newConservative(options{}.Decode, nil, nil)), map[string]float64{}}
		sameStarts(t, "started", run(t, p, in.Hosts, in.Jobs, nil), want.Starts)
		sameStarts(t, "reserved", p.starts, want.Reserved)
	})
}

func TestGoldenFairShareRun(t *testing.T) {
	golden(t, "fairshare_run", func(t *testing.T, in goldenRun, want struct{ Starts map[string]float64 }) {
		var names []string
		for name := range in.Shares {
			names = append(names, name)
		}
		for _, j := range in.Jobs {
			names = append(names, j.User)
		}
		users, shares := numbering(names...), map[string]any{}
		for name, n := range in.Shares {
			shares[strconv.FormatInt(users[name], 10)] = n
		}
		o := options{"backfill": "none", "half_life": in.HalfLife, "shares": shares}
		if in.Period > 0 {
			o["period"] = in.Period
		}
		p := must(newFairShare(o.Decode, nil, nil)).(*fairshare)
		for name := range in.Shares {
			p.tree.user(users[name])
		}
		hold := map[float64][]func(at float64){}
		var times []float64
		for _, h := range in.History {
			hold[h.From] = append(hold[h.From], func(at float64) { p.tree.hold(at, users[h.User], h.Nodes) })
			hold[h.To] = append(hold[h.To], func(at float64) { p.tree.hold(at, users[h.User], -h.Nodes) })
			times = append(times, h.From, h.To)
		}
		slices.Sort(times)
		for _, at := range slices.Compact(times) {
			for _, f := range hold[at] {
				f(at)
			}
		}
		sameStarts(t, "started", run(t, p, in.Hosts, in.Jobs, users), want.Starts)
	})
}

func TestGoldenFairShare(t *testing.T) {
	type node struct {
		Parent string
		Shares float64
		Usage  *float64
	}
	type in struct {
		Total   *float64
		Damping *float64
		Nodes   map[string]node
	}
	type user struct{ Shares, Effective, Factor float64 }
	golden(t, "fairshare", func(t *testing.T, in in, want struct{ Users map[string]user }) {
		o := options{"accounts": map[string]any{}}
		if in.Damping != nil {
			o["damping"] = *in.Damping
		}
		for name, n := range in.Nodes {
			o["accounts"].(map[string]any)[name] = map[string]any{"parent": n.Parent, "shares": n.Shares}
		}
		tree := must(newFairShare(o.Decode, nil, nil)).(*fairshare).tree
		for name, n := range in.Nodes {
			if n.Usage != nil {
				for i := tree.byName[name]; ; i = tree.nodes[i].parent {
					if tree.nodes[i].used += *n.Usage; i == 0 {
						break
					}
				}
			}
		}
		if in.Total != nil {
			tree.nodes[0].used = *in.Total
		}
		for name, w := range want.Users {
			i := tree.byName[name]
			tree.byUser[1] = i
			used, shares := tree.effective(0, i)
			factor, _ := tree.factor(0, 1)
			for _, x := range [][2]float64{{shares, w.Shares}, {used, w.Effective}, {factor, w.Factor}} {
				if math.Abs(x[0]-x[1]) > 1e-9 {
					t.Errorf("%s: shares, effective, factor %v, %v, %v, want %v", name, shares, used, factor, w)
					break
				}
			}
		}
	})
}

func TestGoldenDecayed(t *testing.T) {
	type in struct {
		HalfLife float64 `json:"half_life"`
		Period   float64
		At       float64
		Runs     []struct {
			User     string
			Nodes    int
			From, To float64
		}
	}
	golden(t, "decayed", func(t *testing.T, in in, want struct{ Usage map[string]float64 }) {
		tree := must(newFairShare(options{"half_life": in.HalfLife, "period": in.Period}.Decode, nil, nil)).(*fairshare).tree
		var names []string
		changes := map[float64][]func(at float64){}
		var times []float64
		for _, r := range in.Runs {
			names = append(names, r.User)
		}
		users := numbering(names...)
		for _, r := range in.Runs {
			changes[r.From] = append(changes[r.From], func(at float64) { tree.hold(at, users[r.User], r.Nodes) })
			changes[r.To] = append(changes[r.To], func(at float64) { tree.hold(at, users[r.User], -r.Nodes) })
			times = append(times, r.From, r.To)
		}
		slices.Sort(times)
		for _, at := range slices.Compact(times) {
			if at < in.At {
				for _, f := range changes[at] {
					f(at)
				}
			}
		}
		for name, w := range want.Usage {
			if _, got := tree.factor(in.At, users[name]); math.Abs(got-w) > 1e-9*max(1, w) {
				t.Errorf("%s has used %v, want %v", name, got, w)
			}
		}
	})
}

type goldenDRF struct {
	Capacity []float64
	Skip     bool
	Users    []struct {
		Name   string
		Demand []float64
		Weight *float64
		Wants  *int
	}
}

type goldenTasks struct {
	Tasks    map[string]float64
	Order    string
	Dominant map[string]float64
	Used     []float64
	Left     []float64
}

func (in *goldenDRF) weight(i int) float64 {
	if w := in.Users[i].Weight; w != nil {
		return *w
	}
	return 1
}

func TestGoldenDRF(t *testing.T) {
	golden(t, "drf", func(t *testing.T, in goldenDRF, want goldenTasks) {
		d := dominance{skip: in.Skip, users: map[int64]*holding{}}
		copy(d.total[:], in.Capacity)
		slices.SortFunc(in.Users, func(a, b struct {
			Name   string
			Demand []float64
			Weight *float64
			Wants  *int
		}) int {
			return strings.Compare(a.Name, b.Name)
		})
		tasks, order := map[string]float64{}, ""
		for {
			d.begin()
			for i, u := range in.Users {
				if u.Wants == nil || tasks[u.Name] < float64(*u.Wants) {
					var wants demand
					copy(wants[:], u.Demand)
					d.offer(int64(i), in.weight(i), 0, wants)
				}
			}
			u := d.choose(func(*holding) bool { return true })
			if u == nil {
				break
			}
			d.take(u.user, u.wants, 1)
			tasks[in.Users[u.user].Name]++
			order += in.Users[u.user].Name
		}
		for i, u := range in.Users {
			share := 0.0
			if h := d.users[int64(i)]; h != nil {
				share, _ = d.dominant(h)
			}
			if tasks[u.Name] != want.Tasks[u.Name] || math.Abs(share-want.Dominant[u.Name]) > 1e-9 {
				t.Errorf("%s has %v tasks, share %v, want %v, %v", u.Name, tasks[u.Name], share, want.Tasks[u.Name], want.Dominant[u.Name])
			}
		}
		if order != want.Order || !slices.Equal(d.used[:len(want.Used)], want.Used) {
			t.Errorf("order %s, used %v, want %s, %v", order, d.used, want.Order, want.Used)
		}
	})
}

// TestGoldenFluid compares the formulas for divisible tasks with the model. Dominant shares
// divided by weights grow together until a resource is full. Afterwards, only the shares of
// users that do not need this resource grow.
func TestGoldenFluid(t *testing.T) {
	golden(t, "drf_fluid", func(t *testing.T, in goldenDRF, want goldenTasks) {
		tasks, left := fluid(&in)
		for i, u := range in.Users {
			dominant := 0.0
			for k, c := range in.Capacity {
				dominant = max(dominant, tasks[i]*u.Demand[k]/c)
			}
			if math.Abs(tasks[i]-want.Tasks[u.Name]) > 1e-9 || math.Abs(dominant-want.Dominant[u.Name]) > 1e-9 {
				t.Errorf("%s has %v tasks, share %v, want %v, %v", u.Name, tasks[i], dominant, want.Tasks[u.Name], want.Dominant[u.Name])
			}
		}
		for k := range left {
			if math.Abs(left[k]-want.Left[k]) > 1e-9*in.Capacity[k] {
				t.Errorf("%v left, want %v", left, want.Left)
			}
		}
	})
}

// fluid returns the tasks of each user and the remaining resources, in exact fractions.
func fluid(in *goldenDRF) (tasks, left []float64) {
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	free, done, speed, open := []*big.Rat{}, []*big.Rat{}, []*big.Rat{}, []bool{}
	for _, c := range in.Capacity {
		free = append(free, rat(c))
	}
	for i, u := range in.Users {
		most := new(big.Rat) // dominant share of one task
		for k, c := range in.Capacity {
			if x := new(big.Rat).Quo(rat(u.Demand[k]), rat(c)); x.Cmp(most) > 0 {
				most = x
			}
		}
		done, open = append(done, new(big.Rat)), append(open, most.Sign() > 0)
		if most.Sign() > 0 {
			most.Quo(rat(in.weight(i)), most)
		}
		speed = append(speed, most)
	}
	for slices.Contains(open, true) {
		var step *big.Rat
		rates := make([]*big.Rat, len(free))
		for k := range free {
			rates[k] = new(big.Rat)
			for i, u := range in.Users {
				if open[i] {
					rates[k].Add(rates[k], new(big.Rat).Mul(speed[i], rat(u.Demand[k])))
				}
			}
			if rates[k].Sign() > 0 {
				if x := new(big.Rat).Quo(free[k], rates[k]); step == nil || x.Cmp(step) < 0 {
					step = x
				}
			}
		}
		for i := range done {
			if open[i] {
				done[i].Add(done[i], new(big.Rat).Mul(speed[i], step))
			}
		}
		for k := range free {
			if free[k].Sub(free[k], rates[k].Mul(rates[k], step)); free[k].Sign() > 0 {
				continue
			}
			for i, u := range in.Users {
				open[i] = open[i] && u.Demand[k] == 0
			}
		}
	}
	for i := range done {
		x, _ := done[i].Float64()
		tasks = append(tasks, x)
	}
	for k := range free {
		x, _ := free[k].Float64()
		left = append(left, x)
	}
	return tasks, left
}

// TestNoStartBecomesLater checks that, under conservative and if no job exceeds its estimate,
// every job starts at the start that was planned at its arrival, or earlier. It also checks
// that all jobs start under the planning policies.
func TestNoStartBecomesLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		overrun := rapid.SampledFrom([]float64{0, 0, 0.4}).Draw(t, "overrun")
		fleet := rapid.IntRange(1, 6).Draw(t, "hosts")
		var jobs []goldenJob
		now := 0.0
		for i := range rapid.IntRange(1, 30).Draw(t, "jobs") {
			now += rapid.Float64Range(0, 60).Draw(t, "gap")
			estimate := rapid.Float64Range(1, 300).Draw(t, "estimate")
			runtime := estimate * rapid.Float64Range(0.1, 1+overrun).Draw(t, "part")
			if rapid.Bool().Draw(t, "exact") {
				runtime = estimate
			}
			jobs = append(jobs, goldenJob{ID: int64(i), User: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "user"), Submit: now,
				Nodes: rapid.IntRange(1, fleet).Draw(t, "nodes"), Runtime: runtime, Estimate: &estimate})
		}
		for name, make := range map[string]admission.Factory{"conservative": newConservative, "fairshare": newFairShare, "drf": newDRF} {
			for _, backfill := range []string{"none", "easy", "conservative"} {
				p := &noting{must(make(policytest.Options{"backfill": backfill, "skip": backfill == "easy"}.Decode, nil, nil)), map[string]float64{}}
				starts := run(t, p, fleet, jobs, numbering("a", "b", "c"))
				if len(starts) != len(jobs) {
					t.Fatalf("%s: %d of %d jobs started", name, len(starts), len(jobs))
				}
				for id, at := range p.starts {
					if overrun == 0 && starts[id] > at+1e-5 {
						t.Fatalf("job %s started at %v, later than %v", id, starts[id], at)
					}
				}
			}
		}
	})
}
