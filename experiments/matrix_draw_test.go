package experiments

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"bourse/contracts/broker"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
	"bourse/workloadgen/models"
)

// A drawing is a random scenario: a scenario file and the files named in it.
type drawing struct {
	number    uint64 // seed with which the drawing can be repeated
	root      *branch
	admission []string         // names of its policies
	plan      workloadgen.Plan // rows of plan.csv; nil if there is no plan
	trace     []absence        // lines of trace.csv
	model     string           // text of model.yaml
}

// An absence is a period on one line of a trace.
type absence struct {
	host       int
	start, end float64
	state      string
}

// files returns the scenario and the files named in it, keyed by file name, to be written
// to dir.
func (g *drawing) files(dir string) map[string]string {
	var text strings.Builder
	fmt.Fprintf(&text, "# draw %d of the matrix\n", g.number)
	g.root.block(&text, "")
	files := map[string]string{"scenario.yaml": strings.ReplaceAll(text.String(), "DIR/", dir+"/")}
	if g.plan != nil {
		text.Reset()
		workloadgen.WriteCSV(&text, g.plan) // writing to a Builder returns no error
		files["plan.csv"] = text.String()
		files["log.swf"] = swfOf(g.plan)
	}
	if g.trace != nil {
		text.Reset()
		text.WriteString("resource,start,end,state,load,mips\n")
		for _, a := range g.trace {
			fmt.Fprintf(&text, "m%02d,%v,%v,%s,0,1\n", a.host, a.start, a.end, a.state)
		}
		files["trace.csv"] = text.String()
	}
	if g.model != "" {
		files["model.yaml"] = g.model
	}
	return files
}

// swfOf returns jobs as a job log in the SWF format.
func swfOf(p workloadgen.Plan) string {
	var b strings.Builder
	b.WriteString("; MaxNodes: 16\n")
	numbers := make(map[int64]int)
	for i := range p {
		j := &p[i]
		status := 1
		if j.Runtime < 1 {
			status = 5 // SWF status of a job that was cancelled before it ran
		}
		before, think := -1, int64(-1)
		if n, ok := numbers[j.After]; ok && j.After != 0 {
			before, think = n, int64(j.Think)
		}
		numbers[j.ID] = i + 1
		fmt.Fprintf(&b, "%d %d -1 %d %d -1 -1 %d %d -1 %d %d 1 1 1 1 %d %d\n", i+1, int64(j.Arrival),
			int64(math.Round(j.Runtime)), j.Nodes, j.Nodes, max(1, int64(j.Estimate)), status, j.User+1, before, think)
	}
	return b.String()
}

// A drawer generates random scenarios.
type drawer struct {
	*rand.Rand
	families map[string]matrixFamily
	number   uint64
	hosts    int
	whole    bool // whether numbers are whole, so that many events are simultaneous
}

// own returns a drawer with its own random stream, so that its draws do not change the rest of
// the drawing.
func (d *drawer) own(of uint64) *drawer {
	return &drawer{Rand: rand.New(rand.NewPCG(d.number, of)), families: d.families, number: d.number, hosts: d.hosts, whole: d.whole}
}

func (d *drawer) odds(p float64) bool { return d.Float64() < p }

func pick[T any](d *drawer, from ...T) T { return from[d.IntN(len(from))] }

// number formats x as in a scenario file.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// draw generates the scenario with the given number. The scenario does not depend on earlier
// draws.
func draw(n uint64) *drawing {
	d := &drawer{Rand: rand.New(rand.NewPCG(n, 0x6d6174726978)), families: matrixFamilies(), number: n}
	g := &drawing{number: n}
	d.hosts, d.whole = 1+d.IntN(12), d.odds(0.5)
	names := d.policies()
	g.admission = names
	about := policies.Of(names[0])
	planner := about.Books
	if about.Single && d.odds(0.95) {
		d.hosts = 1
	}
	base := fork("base",
		d.fleet(g, planner, names[0]), d.workload(g, planner), d.market(names[0], planner), d.sla(planner), d.needs(), d.provider())
	base.in = slices.DeleteFunc(base.in, func(b *branch) bool { return b == nil })
	if d.odds(0.2) {
		base.add(leaf("horizon", number(pick(d, 10, 60, 100.0, 250, 1000)*pick(d, 1, 1, 0.77))))
	}
	d.price(g, base)
	list := &branch{name: "admission", list: true, keep: true}
	for i, name := range names {
		list.add(fork("", d.policy(name, i, planner)...))
	}
	base.add(list)
	g.root = fork("", leaf("name", "matrix"), leaf("seed", strconv.FormatUint(n%7, 10)), leaf("replications", "2"))
	g.root.in[0].keep = true
	if d.odds(0.1) {
		g.root.add(fork("figure", &branch{name: "metrics", list: true, in: []*branch{leaf("", "brier"), leaf("", "p_d")}}))
	}
	configurations := &branch{name: "configurations", list: true, keep: true, in: []*branch{fork("", leaf("name", "one"))}}
	g.root.add(base, configurations)
	return g
}

// price gives prices and floors to held resources, and gives jobs amounts of them to hold.
func (d *drawer) price(g *drawing, base *branch) {
	own := d.own(0x707269636564)
	if d.number < matrixHashes || !own.odds(0.2) {
		return
	}
	part := func(name string) *branch {
		for _, b := range base.in {
			if b.name == name {
				return b
			}
		}
		b := fork(name)
		base.add(b)
		return b
	}
	put := func(to *branch, b *branch) {
		to.in = slices.DeleteFunc(to.in, func(old *branch) bool { return old.name == b.name })
		to.add(b)
	}
	put(part("fleet"), leaf("memory", number(pick(own, 8e9, 64e9))))
	put(part("fleet"), fork("count", leaf("gpu", pick(own, "1", "4"))))
	if other := d.own(0x68656c64); other.odds(0.3) { // hosts that offer different amounts
		put(part("fleet"), leaf("held", pick(other, "[{memory: 64e9, count: {gpu: 4}}, {memory: 8e9}]", "[{memory: 7e9, count: {gpu: 1}}, {memory: 32e9, count: {gpu: 8}}, {memory: 16e9, disk: 1e9}]")))
	}
	if own.odds(0.5) {
		put(part("fleet"), fork("floor_per_hour", leaf("cpu", number(pick(own, 0, 0.01, 0.5))), leaf("memory", number(pick(own, 0.001, 0.1))), leaf("gpu", "0.02")))
	}
	if own.odds(0.8) {
		put(part("market"), leaf("resources", pick(own, "[memory]", "[gpu, memory]", "[gpu]")))
	}
	if least := number(pick(own, 1e9, 6e9)); own.odds(0.8) {
		put(part("needs"), fork("min", leaf("memory", least)))
		if own.odds(0.5) {
			put(part("needs"), fork("max", leaf("memory", "7e9")))
		}
	}
	for i := range g.plan {
		if g.plan[i].Needs == nil && own.odds(0.5) {
			g.plan[i].Needs = &workloadgen.Needs{Counts: map[string]int{"gpu": 1}, Memory: pick(own, 0, 2e9)}
		}
	}
	if other := d.own(0x6c6963656e6365); other.odds(0.5) { // licences of the market
		put(part("market"), fork("licences", leaf("matlab", pick(other, "1", "3", "8"))))
		if floors := slices.IndexFunc(part("fleet").in, func(b *branch) bool { return b.name == "floor_per_hour" }); floors >= 0 && other.odds(0.7) {
			part("fleet").in[floors].add(leaf("matlab", number(pick(other, 0.01, 0.5))))
		}
		for i := range g.plan {
			if other.odds(0.5) {
				needs := workloadgen.Needs{Counts: map[string]int{}}
				if was := g.plan[i].Needs; was != nil {
					needs = *was
					needs.Counts = maps.Clone(was.Counts)
				}
				if needs.Counts == nil {
					needs.Counts = map[string]int{}
				}
				needs.Counts["matlab"] = 1 + other.IntN(2)
				g.plan[i].Needs = &needs
			}
		}
	}
}

// policies draws one or two policies. A policy that needs particular hosts and jobs is drawn
// alone or with similar policies, unless the drawing tests that the combination is refused.
func (d *drawer) policies() []string {
	names := d.known(policies.Table(nil, nil).Names())
	first := pick(d, names...)
	out := []string{first}
	if d.odds(0.3) {
		if second := pick(d, names...); policies.Of(second).Books == policies.Of(first).Books && policies.Of(second).Single == policies.Of(first).Single && policies.Of(second).Rated == policies.Of(first).Rated && policies.Of(second).Free == policies.Of(first).Free || d.odds(0.03) {
			out = append(out, second)
		}
	}
	return out
}

// policy draws the options of a policy and, in most cases, the sharing rule for which the
// policy is made.
func (d *drawer) policy(name string, i int, planner bool) []*branch {
	out := d.plugin("admission", name)
	out = append(out, leaf("label", fmt.Sprintf("p%d", i)))
	switch made := policies.Of(name).Sharing; {
	case d.odds(0.6) || (planner || policies.Of(name).Rated) && d.odds(0.97):
		out = append(out, fork("sharing", d.sharing(made)...))
	case d.odds(0.5):
		out = append(out, fork("sharing", d.sharing(pick(d, d.known(sharing.Table().Names())...))...))
	}
	// The draws with stored hashes were made before this option existed.
	if own := d.own(0x6e65676f + uint64(i)); d.number >= matrixHashes && own.odds(0.15) {
		out = append(out, leaf("negotiate", pick(own, scenario.Never, scenario.Rational, scenario.Impatient)))
	}
	return out
}

func (d *drawer) sharing(name string) []*branch { return d.plugin("sharing", name) }

func (d *drawer) fleet(g *drawing, planner bool, policy string) *branch {
	b := fork("fleet", leaf("hosts", strconv.Itoa(d.hosts)))
	cpus := pick(d, 1, 1, 1, 2, 2, 4, 0.5, 1.5)
	if planner {
		cpus = pick(d, 1, 2, 4, 8, 16, 2.5, 0.5)
	}
	if policies.Of(policy).Clears && d.odds(0.95) {
		cpus = 1
	}
	if own := d.own(0x756e697473); d.number >= matrixHashes && policies.Of(policy).Clears && own.odds(0.5) { // does not apply to draws with stored hashes
		cpus = pick(own, 2, 2, 3, 4, 2.5)
	}
	b.add(leaf("cpus", number(cpus)))
	if own := d.own(0x666c6f6f72); d.number >= matrixHashes && own.odds(0.25) {
		b.add(fork("floor_per_hour", leaf("cpu", number(pick(own, 0.01, 0.5, 3.6, 40)))))
	}
	if d.odds(0.4) {
		b.add(leaf("speed", number(pick(d, 0.5, 2, 1.3, 0.7, 1))))
	}
	if d.odds(0.35) {
		speeds := &branch{name: "speeds", list: false}
		var values []string
		for range 1 + d.IntN(4) {
			values = append(values, number(pick(d, 0.5, 1, 2, 1.3, 3)))
		}
		speeds.text = "[" + strings.Join(values, ", ") + "]"
		b.add(speeds)
	}
	if d.odds(0.5) {
		b.add(leaf("cap", number(pick(d, 0, 1, 0.5, 2, 0.3))))
	}
	if d.odds(0.2) {
		b.add(leaf("memory", number(pick(d, 0, 8e9, 64e9))), leaf("disk", number(pick(d, 0, 1e12))), leaf("bandwidth", "1e9"))
	}
	if d.odds(0.25) && (!planner || d.odds(0.05)) {
		b.add(d.availability(g))
	}
	return b
}

func (d *drawer) availability(g *drawing) *branch {
	b := fork("availability")
	if d.odds(0.65) {
		d.trace(g)
		b.add(leaf("file", "trace.csv"), leaf("gap", number(pick(d, 0, 5, 120.0))))
	} else {
		b.add(fork("model", d.plugin("availability", pick(d, d.families["availability"].names...))...))
		b.add(leaf("span", number(pick(d, 500, 5000, 86400.0))))
	}
	b.in[0].keep = true
	if d.odds(0.7) {
		b.add(leaf("leaving", pick(d, "resubmit", "lost", "suspend")))
	}
	if d.odds(0.5) {
		b.add(leaf("lost_work", pick(d, "free", "charged")))
	}
	if d.odds(0.5) {
		b.add(fork("predictor", d.plugin("predictor", pick(d, d.families["predictor"].names...))...))
	}
	return b
}

// trace draws the periods in which each host is present.
func (d *drawer) trace(g *drawing) {
	for h := range d.hosts {
		at := pick(d, 0, 0, 5.0, 20)
		for range 1 + d.IntN(6) {
			for _, state := range []string{"A", pick(d, "U", "P", "C", "E", "")} {
				length := d.seconds(60)
				if state == "A" {
					length = d.seconds(200)
				}
				if state != "" {
					g.trace = append(g.trace, absence{h, at, at + length, state})
				}
				at += length
			}
		}
		if d.odds(0.5) {
			g.trace = append(g.trace, absence{h, at, at + 1e6, "A"})
		}
	}
}

// seconds draws a duration with approximately the given mean.
func (d *drawer) seconds(mean float64) float64 {
	if d.whole {
		return max(1, math.Round(mean/10*pick(d, 1, 2, 5, 10, 10, 20.0)))
	}
	return max(1e-3, mean*d.ExpFloat64())
}

func (d *drawer) market(policy string, planner bool) *branch {
	b := fork("market")
	switch {
	case planner && d.odds(0.97):
		b.add(fork("sharing", d.sharing("planned")...))
	case d.odds(0.5):
		b.add(fork("sharing", d.sharing(policies.Of(policy).Sharing)...))
	case d.odds(0.7):
		b.add(fork("sharing", d.sharing(pick(d, d.known(sharing.Table().Names())...))...))
	}
	if d.odds(0.5) {
		b.add(fork("bidding", d.plugin("bidding", pick(d, firstBiddings...))...))
	}
	if own := d.own(0x62696464696e67); d.number >= matrixHashes && own.odds(0.3) { // does not apply to draws with stored hashes
		b.in = slices.DeleteFunc(b.in, func(b *branch) bool { return b.name == "bidding" })
		b.add(fork("bidding", own.plugin("bidding", pick(own, own.families["bidding"].names...))...))
	}
	if d.odds(0.8) {
		b.add(leaf("payment", pick(d, firstPayments...)))
	}
	if rated := policies.Of(policy); rated.Rated {
		b.in = slices.DeleteFunc(b.in, func(b *branch) bool { return b.name == "payment" })
		b.add(leaf("payment", map[bool]string{false: "bid", true: "free"}[rated.Free]))
	} else if own := d.own(0x7061796d656e74); d.number >= matrixHashes && own.odds(0.4) { // does not apply to draws with stored hashes
		b.in = slices.DeleteFunc(b.in, func(b *branch) bool { return b.name == "payment" })
		payment := pick(own, broker.Payments().Names()...)
		if b.add(leaf("payment", payment)); payment == "scarce" && own.odds(0.5) {
			b.add(leaf("reserve", number(pick(own, 1e-6, 0.001, 0.1))))
		}
	}
	if d.odds(0.4) {
		b.add(fork("forecaster", d.plugin("forecaster", pick(d, firstForecasters...))...))
	}
	if own := d.own(0x6163692065776d61); d.number >= matrixHashes && own.odds(0.5) { // does not apply to draws with stored hashes
		b.in = slices.DeleteFunc(b.in, func(b *branch) bool { return b.name == "forecaster" })
		b.add(fork("forecaster", own.plugin("forecaster", pick(own, own.families["forecaster"].names...))...))
	}
	if d.odds(0.3) {
		b.add(leaf("window", number(pick(d, 0.5, 20, 300, 5000.0))))
	}
	if d.odds(0.4) && (!planner || d.odds(0.1)) {
		instant := pick(d, "ends-first", "submissions-first")
		if instant == "submissions-first" && rand.New(rand.NewPCG(d.number, 0x696e7374)).IntN(2) == 0 { // does not use the stream of the other draws
			instant = "one-by-one"
		}
		b.add(leaf("instant", instant))
	}
	if own := rand.New(rand.NewPCG(d.number, 0x72656e6577)); d.number >= matrixHashes && own.IntN(3) == 0 { // does not use the stream of the other draws, and does not apply to draws with stored hashes
		b.add(leaf("renew", number([]float64{20, 300, 5000}[own.IntN(3)])))
	}
	if b.in == nil {
		return nil
	}
	return b
}

func (d *drawer) sla(bool) *branch {
	b := fork("sla")
	if d.odds(0.6) {
		b.add(leaf("enforcement", pick(d, "total", "per-host")))
	}
	if d.odds(0.4) {
		b.add(leaf("slack", number(pick(d, 0.5, 1, 1.5, 3, 20, 1000.0))))
	}
	if d.odds(0.4) {
		b.add(leaf("of", pick(d, "plan", "estimate", "runtime")))
	}
	if d.odds(0.5) {
		b.add(leaf("deadline", pick(d, "hard", "soft", "plan")))
	}
	if own := d.own(0x6e6f6e65); d.number >= matrixHashes && own.odds(0.08) { // does not apply to draws with stored hashes
		b.in = slices.DeleteFunc(b.in, func(b *branch) bool { return b.name == "deadline" })
		b.add(leaf("deadline", "none"))
	}
	if d.odds(0.4) {
		b.add(leaf("runs_on", pick(d, "true", "false")))
	}
	if d.odds(0.35) {
		p := fork("penalty", leaf("rate", number(pick(d, 0, 0.001, 0.05, 3, 1e6))))
		p.in[0].keep = true
		if d.odds(0.5) {
			p.add(leaf("max", number(pick(d, 0, 0.5, 10.0))))
		}
		b.add(p)
	}
	if b.in == nil {
		return nil
	}
	return b
}

func (d *drawer) needs() *branch {
	if !d.odds(0.2) {
		return nil
	}
	bound := func(name string) *branch {
		b := fork(name)
		if d.odds(0.7) {
			b.add(leaf("cpu", number(pick(d, 0.1, 0.5, 1, 2.0))))
		}
		if d.odds(0.4) {
			b.add(leaf("memory", number(pick(d, 1e9, 6e9, 32e9))))
		}
		if d.odds(0.2) {
			b.add(leaf("disk", "5e11"), leaf("bandwidth", "6e8"))
		}
		if b.in == nil {
			b.add(leaf("cpu", "1"))
		}
		return b
	}
	b := fork("needs")
	if d.odds(0.6) {
		b.add(bound("min"))
	}
	if d.odds(0.5) || b.in == nil {
		b.add(bound("max"))
	}
	return b
}

func (d *drawer) provider() *branch {
	if !d.odds(0.2) {
		return nil
	}
	return fork("provider", leaf("funds", number(pick(d, 0, 1, 0.000001, 1e6))))
}

func (d *drawer) workload(g *drawing, planner bool) *branch {
	b := fork("workload")
	switch kind := d.Float64(); {
	case kind < 0.65:
		g.plan = d.plan(planner)
		b.add(leaf("plan", "plan.csv"))
	case kind < 0.75:
		g.plan = d.plan(planner)
		b.add(leaf("swf", "log.swf"))
		if d.odds(0.7) {
			b.add(leaf("filter", pick(d, "ran", `"ran,first:8"`, `"ran,last:5"`, `"first:10"`)))
		}
	default:
		name := pick(d, models.Table().Names()...)
		b.add(d.model(g, name, planner))
		if d.odds(0.2) {
			b.add(fork("estimate", leaf("name", "uniform"), leaf("min", "0.1"), leaf("max", "10")))
		}
	}
	b.in[0].keep = true
	if d.odds(0.15) {
		b.add(leaf("warmup", pick(d, "0.1", "0.5", "0.9")))
	}
	if own := d.own(0x7072656364); d.number >= matrixHashes && own.odds(0.1) {
		b.add(leaf("preceding", pick(own, "followed", "ignored")))
	}
	if d.odds(0.2) {
		b.add(leaf("funds", number(pick(d, 0, 0.5, 20, 1e6))))
	}
	if a := d.annotate(b.in[0].name != "plan", planner); a != nil {
		b.add(a)
	}
	return b
}

// annotate draws the annotations of jobs. Jobs of a log or a model have no value without
// annotations.
func (d *drawer) annotate(worthless, planner bool) *branch {
	b := fork("annotate")
	if d.odds(0.2) {
		b.add(leaf("inaccuracy", pick(d, "0", "0.5", "1")))
	}
	if d.odds(0.1) {
		b.add(leaf("delay", pick(d, "0", "0.1", "2")))
	} else if d.odds(0.1) {
		b.add(fork("load", leaf("target", pick(d, "0.3", "1.5")), leaf("processors", strconv.Itoa(d.hosts))))
	}
	if d.odds(0.1) {
		b.add(leaf("arrivals", "poisson"))
	}
	if d.odds(0.1) {
		b.add(leaf("restore", "38"))
	}
	if d.odds(0.2) {
		rule := pick(d, "keep", "drop", "cap", "scale", "fold")
		b.add(fork("sizes", leaf("rule", rule), leaf("hosts", strconv.Itoa(d.hosts)), leaf("from", "16"), leaf("per", "2")))
	}
	if own := d.own(0x7061636b); d.number >= matrixHashes && own.odds(0.25) {
		b.in = slices.DeleteFunc(b.in, func(b *branch) bool { return b.name == "sizes" })
		b.add(fork("sizes", leaf("rule", "pack")))
	}
	if planner && d.odds(0.3) || d.odds(0.05) {
		r := fork("reservations", leaf("share", pick(d, "0", "0.5", "1")),
			fork("lead", leaf("law", pick(d, "uniform", "exp", "fixed")), leaf("mean", pick(d, "0", "30", "200"))),
			fork("laxity", leaf("law", pick(d, "uniform", "exp", "fixed")), leaf("mean", pick(d, "0", "1", "5"))),
			leaf("inaccuracy", pick(d, "0", "1", "5")), leaf("errors", pick(d, "over", "under", "both", "log")),
			leaf("cancel", pick(d, "0", "0.3")))
		if own := d.own(0x7061727473); own.odds(1.0 / 3) {
			r.add(fork("parts", leaf("share", pick(own, "0.5", "1")), leaf("count", pick(own, "2", "3"))))
		}
		b.add(r)
	}
	if d.odds(0.15) {
		b.add(fork("value", d.worth()...))
	}
	switch {
	case worthless && d.odds(0.97) || d.odds(0.1):
		switch d.IntN(3) {
		case 0:
			b.add(leaf("price", pick(d, "0.0003", "0.001", "0.1", "3")))
		case 1:
			b.add(leaf("budget", pick(d, "1", "100")))
		default:
			b.add(d.urgency("true"))
		}
	case d.odds(0.1):
		b.add(d.urgency("false"))
	}
	if b.in == nil {
		return nil
	}
	return b
}

func (d *drawer) worth() []*branch {
	return pick(d,
		[]*branch{leaf("name", "equal")},
		[]*branch{leaf("name", "normal")},
		[]*branch{leaf("name", "pareto"), fork("options", leaf("shape", "1.16"))})
}

func (d *drawer) urgency(sla string) *branch {
	return fork("urgency", leaf("sla", sla), leaf("high", pick(d, "0", "0.2", "1")),
		fork("deadline", leaf("low", pick(d, "1.1", "4")), leaf("ratio", pick(d, "1", "4"))),
		leaf("penalty_of", pick(d, "one", "procs", "runtime", "inv_runtime")),
		leaf("budget_of", pick(d, "runtime", "runtime_procs")), leaf("rate", pick(d, "0.001", "0.1")))
}
