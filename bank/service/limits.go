package service

import (
	"sync"
	"time"
)

// Limits bound what clients may ask for. Zero values mean the defaults.
type Limits struct {
	Bytes       int           // of a call: 1 MiB
	Orders      int           // of a call: 256
	Calls       int           // that have arrived, at once: 1024
	Connections int           // at once, half of them of one address: [peers.Connections]
	Deadline    time.Duration // of a call: 10 s
	Rate        float64       // orders a second of an account, or of an address where no key is known yet, and reads of an address: 1000; as many at once
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

// Buckets give each who asks a rate: as much at once as in a second.
type Buckets struct {
	Rate float64 // a second

	mu   sync.Mutex
	left map[string]bucket
}

type bucket struct {
	left float64
	at   float64
}

// mostBuckets is how many are kept before those that are full are forgotten.
const mostBuckets = 1 << 16

// Take tells whether who may ask for one more at an instant.
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

// fill returns a bucket at an instant.
func (b *Buckets) fill(in bucket, now float64) bucket {
	return bucket{min(b.Rate, in.left+b.Rate*max(0, now-in.at)), now}
}

// forget forgets the buckets that are full.
func (b *Buckets) forget(now float64) {
	kept := make(map[string]bucket)
	for who, in := range b.left {
		if b.fill(in, now).left < b.Rate {
			kept[who] = in
		}
	}
	b.left = kept
}
