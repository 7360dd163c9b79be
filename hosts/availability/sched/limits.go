package sched

import (
	"math"

	"bourse/hosts"
	"bourse/hosts/availability/predictors"
)

// limits are bounds that save a threshold from querying its predictor again. Each host has one,
// valid until it expires. Another limit covers all idle hosts. That limit is valid only at a single
// time, and only until another host becomes idle.
type limits struct {
	limiter predictors.Limiter
	least   float64
	hosts   []predictors.Limit // in fleet order

	// The next fields hold the widest limit of the idle hosts, if all of them were refused at
	// time at.
	widest  predictors.Limit
	at      float64
	entered int // number of times that a host had become idle by at
}

func newLimits(limiter predictors.Limiter, least float64) *limits {
	return &limits{limiter: limiter, least: least, at: math.Inf(-1)}
}

// exclude reports whether a job is too long for every idle host. If not, the caller must check
// the hosts one by one.
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

// refused records that all idle hosts were checked and refused at now.
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
