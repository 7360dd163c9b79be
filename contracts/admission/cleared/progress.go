package cleared

import "math"

// A course is a buyer's choice: to idle, to run on spot units, or to run on demand.
type course uint8

const (
	idling course = iota
	onSpot
	onDemand
)

// A progress is the state of a job whose buyer follows the strategy Uniform Progress (Wu et
// al., "Can't Be Late: Optimizing Spot Instance Savings under Deadlines", NSDI 2024). Times
// and work are in seconds.
type progress struct {
	elapsed, done, work, deadline, delay float64 // delay is the time needed to restore a job when it starts again
	on                                   course
	spot                                 bool // whether spot units are available; if the job runs on spot units, whether it was not interrupted
	safe                                 bool // whether the job is in the safety net, which means that it runs on demand until it ends
}

// next returns the buyer's course from now on, and whether the job is then in the safety net.
func (b progress) next() (do course, safe bool) {
	expected := func(at float64) float64 { return at * b.work / b.deadline }
	net := b.deadline-b.elapsed < (b.work-b.done)+2*b.delay
	idle := b.on == idling || b.on == onSpot && !b.spot
	switch {
	case b.done >= b.work:
		return idling, b.safe
	case b.safe:
		return onDemand, true
	case idle && net:
		return onDemand, true
	case b.on == onSpot && b.spot:
		return onSpot, false
	case idle && b.spot:
		return onSpot, false
	case idle && b.done < expected(b.elapsed):
		return onDemand, false
	case idle:
		return idling, false
	case b.done < expected(b.elapsed+2*b.delay):
		return onDemand, false
	case b.spot:
		return onSpot, false
	case net:
		return onDemand, true
	}
	return idling, false
}

// buy lets the buyer of j choose its course again, if buyers follow Uniform Progress. The
// argument stays is true if j was not interrupted; it matters only if j runs on spot units.
func (s *spot) buy(p *Policy, j *job, now float64, stays bool) {
	if s.Bidding != "progress" || math.IsInf(j.due, 1) {
		return
	}
	c := j.class
	b := progress{
		elapsed: now - j.submit, done: max(0, j.done) / c.spec.Speed, work: j.work / c.spec.Speed, deadline: j.deadline, delay: s.Restore,
		spot: j.bid >= max(c.result.Price, s.reserve), safe: j.safe,
	}
	switch {
	case j.state != running && stays:
		b.on = idling
	case j.state == running && j.onDemand:
		b.on = onDemand
	default:
		b.on, b.spot = onSpot, stays
	}
	do, safe := b.next()
	j.safe = safe
	if j.state == running && (b.on == onDemand && do != onDemand || do == idling) {
		p.suspend(j)
	}
	j.onDemand, j.idle = do == onDemand, do == idling
}
