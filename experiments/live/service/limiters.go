package service

import (
	"sync"

	"golang.org/x/time/rate"
)

// limiters give each account a rate, and as much at once as in a second.
type limiters struct {
	rate rate.Limit

	mu sync.Mutex
	of map[string]*rate.Limiter
}

// mostLimiters is how many are kept before all are begun anew.
const mostLimiters = 1 << 16

func (l *limiters) allow(account string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil || len(l.of) > mostLimiters {
		l.of = make(map[string]*rate.Limiter)
	}
	one := l.of[account]
	if one == nil {
		one = rate.NewLimiter(l.rate, max(1, int(l.rate)))
		l.of[account] = one
	}
	return one.Allow()
}
