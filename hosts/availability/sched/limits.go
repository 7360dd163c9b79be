package sched

import (
	"math"

	"bourse/hosts"
	"bourse/hosts/availability/predictors"
)

// Limits are the bounds under which a threshold need not ask its predictor
// again: of each host until it has moved on, and of all idle hosts together
// within an instant, in which they become no more.
type limits struct {
	limiter predictors.Limiter
	least   float64
	hosts   []predictors.Limit // in fleet order

	// Of the idle hosts that were all refused at an instant, the widest.
	widest  predictors.Limit
	at      float64
	entered int // hosts that had ever become idle by then
}

func newLimits(limiter predictors.Limiter, least float64) *limits {
	return &limits{limiter: limiter, least: least, at: math.Inf(-1)}
}

// exclude reports whether a job is too long for every idle host. Otherwise the
// hosts are to be asked one by one.
func (l *limits) exclude(now, length float64, p *Pool) bool {
	if len(l.hosts) < p.Len() {
		l.hosts = make([]predictors.Limit, p.Len())
	}
	if l.at == now && l.entered == p.entered && l.widest.Excludes(now, length) {
		return true
	}
	l.at, l.widest = math.Inf(-1), predictors.Limit{}
	return false
}

// refused notes that all idle hosts were asked at now, and refused.
func (l *limits) refused(now float64, p *Pool) { l.at, l.entered = now, p.entered }

// excludes reports whether a job is too long for a host.
func (l *limits) excludes(now, length float64, p *Pool, h hosts.ID) bool {
	limit := &l.hosts[h]
	if now >= limit.Until {
		*limit = l.limiter.Limit(&p.pasts[h], now, l.least)
	}
	l.widest.Widen(limit)
	return limit.Excludes(now, length)
}
