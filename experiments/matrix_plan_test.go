package experiments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"bourse/workloadgen"
)

// plan draws a plan with few jobs in which difficult cases are frequent: simultaneous
// times, jobs that no fleet can run, deadlines that pass while jobs wait, and estimates
// that are wrong by a factor of ten.
func (d *drawer) plan(planner bool) workloadgen.Plan {
	p := make(workloadgen.Plan, 1+d.IntN(12))
	at, first := 0.0, int64(d.IntN(50))
	if d.odds(0.2) {
		at = pick(d, 1, 1e3, 12345.678)
	}
	for i := range p {
		j := &p[i]
		if i > 0 && !d.odds(0.35) {
			at += d.seconds(20)
		}
		*j = workloadgen.Job{ID: first + int64(i), User: int64(d.IntN(4)), Arrival: at, Runtime: d.seconds(60), Worth: 1}
		if d.odds(0.05) {
			j.Runtime = pick(d, 1e-6, 1e-3, 3e5)
		}
		j.Estimate = d.off(j.Runtime)
		j.Deadline = pick(d, j.Runtime, j.Estimate) * pick(d, 1, 1, 1, 0.2, 0.5, 1.5, 2, 4, 30)
		if d.odds(0.3) {
			j.Deadline = d.seconds(60)
		}
		j.Nodes = d.nodes(planner)
		j.Value = pick(d, 1, 10, 10, 0.5, 100, 1e-6, 1000) * pick(d, 1, d.Float64())
		if d.odds(0.03) {
			j.Value = pick(d, 0, 1e9)
		}
		j.Hard, j.Urgent, j.PenaltyRate = d.odds(0.4), d.odds(0.3), pick(d, 0, 0, 0.01, 0.2, 50)
		if planner || d.odds(0.1) {
			d.reserve(j, planner)
		}
		if d.odds(0.1) {
			j.Class = pick(d, "be", "SAC", "cac", "rac", "gold")
		}
	}
	if d.odds(0.1) { // the ids are not in order
		for i := range p {
			p[i].ID = (p[i].ID*7 + 3) % 101
		}
	}
	d.takeBack(p)
	d.inParts(p, planner)
	d.inChains(p)
	return p
}

// inChains lets jobs follow others in one of four plans, in draws without stored hashes.
func (d *drawer) inChains(p workloadgen.Plan) {
	own := d.own(0x61667465)
	if d.number < matrixHashes || !own.odds(0.25) {
		return
	}
	for i := range p {
		if i > 0 && own.odds(0.6) {
			p[i].After, p[i].Think = p[own.IntN(i)].ID, pick(own, 0, 0, own.seconds(30))
		}
	}
}

// inParts requests some jobs of one in three plans in parts, if clusters have reservation
// books. It sometimes does so without books, where parts have no effect.
func (d *drawer) inParts(p workloadgen.Plan, planner bool) {
	own := d.own(0x70617274)
	if !own.odds(1.0/3) || !planner && !own.odds(0.1) {
		return
	}
	for i := range p {
		if own.odds(0.6) {
			p[i].Parts = min(p[i].Nodes, 1+own.IntN(4))
		}
	}
}

// takeBack lets owners cancel jobs in one of six plans. It uses its own random stream, so
// that the rest of a drawing does not change.
func (d *drawer) takeBack(p workloadgen.Plan) {
	own := drawer{Rand: rand.New(rand.NewPCG(math.Float64bits(p[0].Runtime), uint64(len(p)))), whole: d.whole}
	if !own.odds(1.0 / 6) {
		return
	}
	for i := range p {
		if own.odds(0.4) {
			p[i].Cancel = pick(&own, own.seconds(60), p[i].Runtime, p[i].Deadline, own.Float64()*p[i].Deadline)
		}
	}
}

// off returns a random, possibly wrong estimate of a runtime.
func (d *drawer) off(runtime float64) float64 {
	switch d.IntN(6) {
	case 0:
		return runtime * 10
	case 1:
		return runtime / 10
	case 2:
		return runtime * math.Exp(d.NormFloat64())
	}
	return runtime
}

// nodes draws a number of nodes: one, a few, all hosts, or one more than there are.
func (d *drawer) nodes(planner bool) int {
	if planner {
		return pick(d, 1, 1, 2, 4, 8, 17)
	}
	switch d.IntN(8) {
	case 0, 1, 2, 3:
		return 1
	case 4:
		return d.hosts
	case 5:
		if d.odds(0.3) {
			return d.hosts + 1
		}
	}
	return 1 + d.IntN(d.hosts)
}

// reserve makes j a reservation or an on-demand request.
func (d *drawer) reserve(j *workloadgen.Job, planner bool) {
	if d.odds(0.3) {
		j.OnDemand = true
	} else if d.odds(0.6) {
		j.Lead = d.seconds(40)
		j.Deadline += j.Lead
	}
	if planner && d.odds(0.5) {
		j.Deadline += j.Estimate * pick(d, 1, 5.0)
	}
	if d.odds(0.15) {
		j.Cancel = d.seconds(50)
	}
}

// model draws a small workload of a model in the table.
func (d *drawer) model(g *drawing, name string, planner bool) *branch {
	n := strconv.Itoa(3 + d.IntN(10))
	most := strconv.Itoa(min(d.hosts, 8))
	in := []*branch{leaf("name", name)}
	add := func(b ...*branch) { in = append(in, b...) }
	switch name {
	case "exponential":
		add(leaf("jobs", n), leaf("users", "3"), leaf("iat", pick(d, "5", "40")), leaf("runtime", "60"), leaf("nodes", pick(d, "1", most)))
	case "independent":
		add(leaf("jobs", n), leaf("users", "3"), fork("iat", leaf("name", "exponential"), fork("options", leaf("mean", "20"))),
			fork("runtime", leaf("name", "uniform"), fork("options", leaf("min", "1"), leaf("max", "90"))),
			fork("nodes", leaf("name", "uniform"), fork("options", leaf("min", "1"), leaf("max", "9"))), leaf("widest", most))
		if d.odds(0.3) {
			add(leaf("hurst", "0.8"))
		}
	case "lublin":
		add(leaf("jobs", n), leaf("users", "2"), leaf("size", pick(d, "10", "64")), leaf("set", pick(d, "whole", "batch", "farooq2006")), leaf("cycle", pick(d, "true", "false")))
		if in[len(in)-2].text == "farooq2006" {
			in[len(in)-3].text = "64"
		}
	case "paper":
		low := 1 + d.IntN(2)
		add(leaf("jobs", n), leaf("users", pick(d, "1", "3")), leaf("budget", pick(d, "1", "100")),
			fork("nodes", leaf("min", strconv.Itoa(low)), leaf("max", strconv.Itoa(low+d.IntN(d.hosts)))))
		if d.odds(0.5) {
			add(fork("iat", leaf("min", "1"), leaf("mean", "30"), leaf("max", "100"), leaf("of", pick(d, "plan", "law"))))
		}
		if d.odds(0.3) {
			add(leaf("split", "worth"))
		}
	case "regular":
		add(leaf("users", "2"), leaf("from", pick(d, "0", "30.5")), leaf("to", "200"), leaf("every", pick(d, "10", "25")),
			fork("runtime", leaf("name", "uniform"), fork("options", leaf("min", "1"), leaf("max", "90"))))
	case "resample", "swf":
		g.plan = d.plan(planner)
		add(leaf("file", "DIR/log.swf"), leaf("jobs", pick(d, "0", "2")), leaf("filter", pick(d, "ran", `"ran,first:6"`)))
		if name == "resample" {
			add(leaf("by", pick(d, "block", "user")), leaf("block", "2"))
		} else {
			add(leaf("start", pick(d, "first", "random")))
		}
	case "file":
		g.model = "model: exponential\noptions: {jobs: " + n + ", iat: 15, runtime: 50}\n"
		add(leaf("file", "DIR/model.yaml"))
	default:
		panic(fmt.Sprintf("the matrix has no draw for the workload model %s: want one here", name))
	}
	for _, b := range in {
		b.keep = true
	}
	return fork("model", in...)
}
