package libra

import (
	"math"

	"bourse/contracts/sharing"
	"bourse/hosts"
)

// A projection simulates one host to determine how late its tasks will be (Risk, Algorithm 1).
// It assumes that no further tasks arrive and that estimates are correct.
type projection struct {
	Spare sharing.Spare

	// Shares determines the shares that tasks are assumed to have. With dynamic, the host is
	// divided again whenever a task ends, as on a real host. With static, each task keeps its
	// initial share. With incumbent, shares are also constant, but the last task receives only
	// the capacity that the other tasks leave.
	Shares string

	Left []float64 // estimated remaining runtime of each task, s; input of delays
	Span []float64 // time until the deadline of each task, s; input of delays
	Keep []float64 // processors that each task needs after its estimate is used up; input of delays

	Delay []float64 // delay of each task, s; result of delays

	now         float64 // s from the start
	least, most float64 // lowest and highest deadline delay of the tasks that have ended

	running  []int
	required []float64
	shares   []hosts.Share
	rates    []float64
}

// Clear removes all tasks.
func (p *projection) Clear() { p.Left, p.Span, p.Keep = p.Left[:0], p.Span[:0], p.Keep[:0] }

// Add adds a task.
func (p *projection) Add(left, span, keep float64) {
	p.Left, p.Span, p.Keep = append(p.Left, left), append(p.Span, span), append(p.Keep, keep)
}

// needs returns the sum and the maximum of the needs of the tasks, in processors.
func (p *projection) needs() (total, most float64) {
	for i := range p.Left {
		need := sharing.Required(p.Left[i], p.Span[i], p.Keep[i])
		total, most = total+need, max(most, need)
	}
	return total, most
}

// delays computes Delay for a host n on which no deadline has passed yet. A task whose
// estimate is used up is assumed to run until its deadline with the share in Keep. The method
// overwrites Left.
func (p *projection) delays(n sharing.Node) {
	p.begin()
	for len(p.running) > 0 {
		p.step(n)
	}
}

// begin prepares for the first step.
func (p *projection) begin() {
	p.Delay, p.running, p.now, p.least, p.most = p.Delay[:0], p.running[:0], 0, math.Inf(1), 0
	for i := range p.Left {
		if p.Left[i] <= sharing.Tick && p.Keep[i] > 0 {
			p.Left[i] = p.Keep[i] * p.Span[i]
		}
		p.Delay = append(p.Delay, 0)
		if p.Left[i] > sharing.Tick {
			p.running = append(p.running, i)
		} else {
			p.ends(i, 0)
		}
	}
}

// step advances to the next completion. With constant shares one step is enough, because the
// end of every task is then known.
func (p *projection) step(n sharing.Node) {
	p.divide(n, p.now)
	next := math.Inf(1)
	for k, i := range p.running {
		next = min(next, p.Left[i]/p.rates[k])
	}
	if p.Shares != "dynamic" {
		for k, i := range p.running {
			p.ends(i, p.Left[i]/p.rates[k])
		}
		p.running = p.running[:0]
		return
	}
	p.now += next
	still := p.running[:0]
	for k, i := range p.running {
		if p.Left[i] -= p.rates[k] * next; p.Left[i] > sharing.Tick {
			still = append(still, i)
		} else {
			p.ends(i, p.now)
		}
	}
	p.running = still
}

// ends records that task i ends after the given time.
func (p *projection) ends(i int, after float64) {
	p.Delay[i] = late(after, p.Span[i])
	d := DeadlineDelay(p.Delay[i], p.Span[i])
	p.least, p.most = min(p.least, d), max(p.most, d)
}

// unequal reports whether the tasks that have ended already cause a risk above zero on the
// host, independent of the delays of the other tasks. If two of n deadline delays differ by x,
// their standard deviation is at least x / √2n.
func (p *projection) unequal() bool {
	return p.least < p.most*(1-2*zero*math.Sqrt(2*float64(len(p.Left))))
}

// late returns the delay of a task that ends after end seconds and whose deadline is in span
// seconds. It is 0 if the task has no deadline.
func late(end, span float64) float64 {
	if math.IsInf(span, 1) {
		return 0
	}
	return max(0, end-span)
}

// divide computes the rates of the running tasks from now on.
func (p *projection) divide(n sharing.Node, now float64) {
	p.required, p.rates = p.required[:0], p.rates[:0]
	for _, i := range p.running {
		p.required = append(p.required, sharing.Required(p.Left[i], p.Span[i]-now, 0))
		p.rates = append(p.rates, 0)
	}
	p.shares = n.Split(p.Spare, p.required, p.shares[:0])
	if p.Shares == "incumbent" {
		p.incumbent(n)
	}
	hosts.Divide(n.Size, n.Most, p.shares, p.rates)
}

// incumbent gives the last task the capacity that the other tasks do not need.
func (p *projection) incumbent(n sharing.Node) {
	last := len(p.shares) - 1
	if last == 0 {
		return
	}
	// Reserve for each other task the processors that it needs, but at most the number that
	// one task can use.
	rest := n.Size
	for k := range p.shares[:last] {
		need := min(p.required[k], n.Most)
		rest -= need
		p.shares[k] = hosts.Share{Weight: need, Limit: need}
	}
	p.shares[last] = hosts.Share{Weight: max(0, rest)}
}
