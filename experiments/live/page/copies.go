package page

import "sync"

// Copies are pages as they were written last: many who look at one cost as much as one who
// does.
type copies struct {
	mu  sync.Mutex
	all map[string]*copied // by path
}

// A copied page is written by who comes first; the others wait for that.
type copied struct {
	at     float64 // instant
	once   sync.Once
	status int
	text   []byte
}

const (
	fresh      = 0.5 // s for which a copy is good; page.js waits longer after an event
	mostCopies = 256
	longest    = 100 // bytes of a path whose page is copied
)

// of returns the copy of a page that is good at now, or one that is to be written.
func (c *copies) of(path string, now float64) *copied {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.all[path]
	if k != nil && now < k.at+fresh {
		return k
	}
	k = &copied{at: now}
	if len(c.all) >= mostCopies || c.all == nil {
		c.all = make(map[string]*copied)
	}
	if len(path) <= longest {
		c.all[path] = k
	}
	return k
}
