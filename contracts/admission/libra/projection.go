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

	// Shares selects the shares that tasks are assumed to have. With dynamic, the host is
	// divided again whenever a task ends, as the real host is. With static, each task keeps
	// its initial share. With incumbent, the last task receives only what the others leave,
	// and shares are constant too.
	Shares string

	Left []float64 // by task: estimated remaining runtime, s; input of delays
	Span []float64 // by task: time until its deadline, s; input of delays
	Keep []float64 // by task: processors needed after its estimate is used up; input of delays

	Delay []float64 // by task, s; result of delays

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

// total returns the sum of the needs of the tasks, in processors.
func (p *projection) total() float64 {
	sum := 0.0
	for i := range p.Left {
		sum += sharing.Required(p.Left[i], p.Span[i], p.Keep[i])
	}
	return sum
}

// delays computes Delay for a host n on which no deadline has passed yet. A task whose
// estimate is used up is assumed to run until its deadline with the share that it kept. delays
// overwrites Left.
func (p *projection) delays(n sharing.Node) {
	p.Delay, p.running = p.Delay[:0], p.running[:0]
	for i := range p.Left {
		if p.Left[i] <= sharing.Tick && p.Keep[i] > 0 {
			p.Left[i] = p.Keep[i] * p.Span[i]
		}
		p.Delay = append(p.Delay, 0)
		if p.Left[i] > sharing.Tick {
			p.running = append(p.running, i)
		}
	}
	// Each iteration advances to the next completion. With constant shares one iteration is
	// enough, because the end of every task is then known.
	for now := 0.0; len(p.running) > 0; {
		p.divide(n, now)
		next := math.Inf(1)
		for k, i := range p.running {
			next = min(next, p.Left[i]/p.rates[k])
		}
		if p.Shares != "dynamic" {
			for k, i := range p.running {
				p.Delay[i] = late(p.Left[i]/p.rates[k], p.Span[i])
			}
			return
		}
		now += next
		still := p.running[:0]
		for k, i := range p.running {
			if p.Left[i] -= p.rates[k] * next; p.Left[i] > sharing.Tick {
				still = append(still, i)
			} else {
				p.Delay[i] = late(now, p.Span[i])
			}
		}
		p.running = still
	}
}

// late returns the delay of a task that ends after end seconds and has its deadline after span
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

// incumbent gives the last task the capacity that the others do not need.
func (p *projection) incumbent(n sharing.Node) {
	last := len(p.shares) - 1
	if last == 0 {
		return
	}
	// Reserve for each other task what it needs, up to what one task can use.
	rest := n.Size
	for k := range p.shares[:last] {
		need := min(p.required[k], n.Most)
		rest -= need
		p.shares[k] = hosts.Share{Weight: need, Limit: need}
	}
	p.shares[last] = hosts.Share{Weight: max(0, rest)}
}
