package cleared

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
)

// TestGoldenDivisions runs the golden cases of karma and slices in real markets: in each
// period, each user submits as many jobs of one node as it demands units. Jobs that do not
// start at once are too late and end, so the demand of each period equals the demand in the
// case.
func TestGoldenDivisions(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(*testing.T, *policytest.Case){"karma": karmaCase, "slices": slicesCase}
	policytest.RunCases(t, "BOURSE_GOLDEN_MECHANISMS", "../../../market/clearing/testdata/golden", func(c *policytest.Case) func(*testing.T, *policytest.Case) {
		return kinds[c.Kind]
	})
}

// divide runs the demands of users by period and returns the units that each user obtained.
func divide(t *testing.T, p contracts.Policy, capacity int, users []string, demands []map[string]int) []map[string]any {
	t.Helper()
	var jobs []policytest.Trade
	add := func(user int, at, runtime, deadline float64) {
		jobs = append(jobs, policytest.Trade{ID: int64(len(jobs)), User: int64(user), Submit: at, Nodes: 1, Runtime: runtime, Deadline: deadline, Budget: 1})
	}
	for user := range users {
		add(user, 1, 1, 2) // the job is rejected before the first clearing, but registers its user
	}
	for q, demand := range demands {
		for user, name := range users {
			for range demand[name] {
				add(user, 60*float64(q+1), 59, 59)
			}
		}
	}
	m := policytest.Deal(t, capacity, 1, p, "exclusive", "free", jobs)
	units := make([]map[string]any, len(demands))
	for q := range units {
		units[q] = map[string]any{}
		for _, name := range users {
			units[q][name] = 0
		}
	}
	for _, j := range jobs {
		if stays := m.Traded[j.ID].Stays; len(stays) > 0 {
			if q := units[int(stays[0][0])/60-1]; stays[0][0] == j.Submit && len(stays) == 1 {
				q[users[j.User]] = q[users[j.User]].(int) + 1
			} else {
				t.Errorf("job %d, submitted at %v, ran in %v", j.ID, j.Submit, stays)
			}
		}
	}
	return units
}

func karmaCase(t *testing.T, c *policytest.Case) {
	in := struct {
		Capacity int
		Alpha    float64
		Users    []string
		Credits  json.RawMessage
		Demands  []map[string]int
	}{}
	check(t, json.Unmarshal(c.Input, &in))
	var credits int64
	if json.Unmarshal(in.Credits, &credits) != nil {
		t.Skip("users have different credits at first, which is not an option")
	}
	slices.Sort(in.Users)
	p, err := newKarma(policytest.Options{"alpha": in.Alpha, "credits": credits}.Decode, nil, nil)
	check(t, err)
	var quanta []any
	for _, alloc := range divide(t, p, in.Capacity, in.Users, in.Demands) {
		quanta = append(quanta, map[string]any{"alloc": alloc})
	}
	last := c.Expect["quanta"].([]any)[len(quanta)-1].(map[string]any)["credits"]
	for _, q := range c.Expect["quanta"].([]any) {
		delete(q.(map[string]any), "credits")
	}
	c.Exact(t, "quanta", quanta)
	after := map[string]any{}
	for user, name := range in.Users {
		after[name], _ = p.(*Policy).seller.(*divided).mechanism.(interface{ Balance(int32) (int64, bool) }).Balance(int32(user))
	}
	c.Expect["credits"] = last
	c.Exact(t, "credits", after)
}

func slicesCase(t *testing.T, c *policytest.Case) {
	in := struct {
		Capacity int
		Users    []struct {
			Name   string
			Demand int
			Weight *float64
		}
	}{}
	check(t, json.Unmarshal(c.Input, &in))
	shares, demand, users := map[string]any{}, map[string]int{}, []string{}
	for i, u := range in.Users {
		if users, demand[u.Name] = append(users, u.Name), u.Demand; u.Weight != nil {
			shares[fmt.Sprint(i)] = *u.Weight
		}
	}
	p, err := newSlices(policytest.Options{"shares": shares}.Decode, nil, nil)
	check(t, err)
	c.Exact(t, "slices", divide(t, p, in.Capacity, users, []map[string]int{demand})[0])
}

// TestDivided checks laws of karma and slices on random jobs: no more nodes run than there are
// processors, each job has done exactly its work when it is fulfilled, the one-node jobs of a
// user start in order of submission, and no user pays.
func TestDivided(t *testing.T) {
	t.Parallel()
	suspended := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		hosts, cpus, restore := 1+rng.IntN(5), 1+rng.IntN(2), float64(5*rng.IntN(2))
		o := policytest.Options{"every": 20.0, "restore": restore, "losers": []string{"wait", "leave"}[rng.IntN(2)]}
		factory := newSlices
		if seed%2 == 0 {
			factory = newKarma
			o["alpha"], o["credits"] = rng.Float64(), rng.IntN(20)
		} else {
			o["shares"] = map[string]any{"1": 0.5 + rng.Float64()}
		}
		p, err := factory(o.Decode, nil, nil)
		check(t, err)
		var jobs []policytest.Trade
		wide := rng.IntN(2) * (hosts - 1)
		for id := range int64(3 + rng.IntN(12)) {
			jobs = append(jobs, policytest.Trade{
				ID: id, User: int64(rng.IntN(3)), Submit: float64(rng.IntN(150)), Nodes: 1 + rng.IntN(1+wide),
				Runtime: float64(1 + rng.IntN(90)), Deadline: 400, Budget: 1,
			})
		}
		slices.SortStableFunc(jobs, func(a, b policytest.Trade) int { return cmp.Compare(a.Submit, b.Submit) })
		m := policytest.Deal(t, hosts, float64(cpus), p, "exclusive", "free", jobs)
		type change struct {
			at    float64
			nodes int
		}
		var changes []change
		first := map[int64]float64{} // latest time of a first start, by user
		for _, j := range jobs {
			d, ran := m.Traded[j.ID], 0.0
			for _, s := range d.Stays {
				ran += s[1] - s[0]
				changes = append(changes, change{s[0], j.Nodes}, change{s[1], -j.Nodes})
			}
			suspended += max(0, len(d.Stays)-1)
			if n := float64(len(d.Stays)); d.State() == "fulfilled" && ran != j.Runtime+restore*(n-1) {
				t.Errorf("seed %d: job %d of %v s ran in %v", seed, j.ID, j.Runtime, d.Stays)
			}
			if d.Settled != nil && (d.Settled.Paid.Sign() != 0 || d.Settled.Suspensions < len(d.Stays)-1) {
				t.Errorf("seed %d: job %d paid %v after %d suspensions in %v", seed, j.ID, d.Settled.Paid, d.Settled.Suspensions, d.Stays)
			}
			if wide == 0 && len(d.Stays) > 0 {
				if d.Stays[0][0] < first[j.User] {
					t.Errorf("seed %d: job %d of user %d started at %v, before one submitted earlier", seed, j.ID, j.User, d.Stays[0][0])
				}
				first[j.User] = d.Stays[0][0]
			}
		}
		slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.nodes-b.nodes) })
		used := 0
		for _, c := range changes {
			if used += c.nodes; used > hosts*cpus {
				t.Fatalf("seed %d: %d nodes run at %v on %d processors", seed, used, c.at, hosts*cpus)
			}
		}
	}
	if suspended < 100 {
		t.Errorf("%d suspensions: too few to tell", suspended)
	}
}

// TestNoProgress checks that jobs of users who take turns end even if each return to the host
// costs more work than is done until the next suspension: after 1,000 clearings without
// progress, the suspended job is cancelled and the other one is completed. While a request or a
// hard deadline is ahead, the users take turns as Karma requires.
func TestNoProgress(t *testing.T) {
	t.Parallel()
	forever := math.Inf(1)
	for name, c := range map[string]struct {
		deadline float64 // deadline of the second job
		later    float64 // submission time of another job
		want     [2]string
		ends     [2]float64
	}{
		"alone":        {deadline: forever, want: [2]string{"interrupted", "fulfilled"}, ends: [2]float64{7028, 0}},
		"deadline":     {deadline: 20000, want: [2]string{"fulfilled", "late"}, ends: [2]float64{0, 20000}},
		"next request": {deadline: forever, later: 30000, want: [2]string{"interrupted", "fulfilled"}, ends: [2]float64{37002, 0}},
	} {
		p, err := newKarma(policytest.Options{"every": 7.0, "restore": 60.0, "credits": 100000}.Decode, nil, nil)
		check(t, err)
		jobs := []policytest.Trade{
			{ID: 0, User: 0, Nodes: 1, Runtime: 30, Deadline: forever, Budget: 1},
			{ID: 1, User: 1, Nodes: 1, Runtime: 30, Deadline: c.deadline, Budget: 1},
		}
		if c.later > 0 {
			jobs = append(jobs, policytest.Trade{ID: 2, User: 1, Submit: c.later, Nodes: 2, Runtime: 1, Deadline: forever, Budget: 1})
		}
		m := policytest.Deal(t, 1, 1, p, "exclusive", "free", jobs)
		for id, want := range c.want {
			d := m.Traded[int64(id)]
			if d.State() != want || c.ends[id] > 0 && d.Settled.Ended != c.ends[id] {
				t.Errorf("%s: job %d is %s at %v, want %s at %v", name, id, d.State(), d.Settled.Ended, want, c.ends[id])
			}
		}
	}
}
