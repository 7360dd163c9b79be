package service

import (
	"sync"
	"time"
)

// Limits restricts the requests of clients. A zero value means the default.
type Limits struct {
	Bytes       int           // maximum number of bytes per call; default 1 MiB
	Orders      int           // maximum number of orders per call; default 256
	Calls       int           // maximum number of calls received but not yet answered; default 1024
	Connections int           // maximum number of concurrent connections, at most half of them from one address; default [peers.Connections]
	Deadline    time.Duration // time limit of a call; default 10 s
	Rate        float64       // maximum number of orders per second and account (or per address if no key is known yet), and of reads per second and address; also the burst size; default 1000
}

func (l Limits) defaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 1 << 20
	}
	if l.Orders == 0 {
		l.Orders = 256
	}
	if l.Calls == 0 {
		l.Calls = 1024
	}
	if l.Deadline == 0 {
		l.Deadline = 10 * time.Second
	}
	if l.Rate == 0 {
		l.Rate = 1000
	}
	return l
}

// Buckets limits the rate of each client. The burst size is the number of requests per second.
type Buckets struct {
	Rate float64 // number of requests per second

	mu   sync.Mutex
	left map[string]bucket
}

type bucket struct {
	left float64
	at   float64
}

// mostBuckets is the number of buckets above which full ones are removed.
const mostBuckets = 1 << 16

// Take reports whether the client named who may send one more request at time now, and counts
// the request.
func (b *Buckets) Take(who string, now float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left == nil || len(b.left) > mostBuckets {
		b.forget(now)
	}
	in, ok := b.left[who]
	if !ok {
		in = bucket{b.Rate, now}
	}
	in = b.fill(in, now)
	may := in.left >= 1
	if may {
		in.left--
	}
	b.left[who] = in
	return may
}

// fill returns the bucket at time now.
func (b *Buckets) fill(in bucket, now float64) bucket {
	return bucket{min(b.Rate, in.left+b.Rate*max(0, now-in.at)), now}
}

// forget removes the full buckets.
func (b *Buckets) forget(now float64) {
	kept := make(map[string]bucket)
	for who, in := range b.left {
		if b.fill(in, now).left < b.Rate {
			kept[who] = in
		}
	}
	b.left = kept
}
