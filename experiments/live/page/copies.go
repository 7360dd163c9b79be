package page

import "sync"

// Copies are the last versions of pages: many readers of a page cost as much as one.
type copies struct {
	mu  sync.Mutex
	all map[string]*copied // by path
}

// A copied page is written by the first reader; the others wait for it.
type copied struct {
	at     float64 // instant
	once   sync.Once
	status int
	text   []byte
}

const (
	fresh      = 0.5 // s for which a copy is valid; page.js waits longer after an event
	mostCopies = 256
	longest    = 100 // maximum length in bytes of the path of a copied page
)

// of returns the copy of a page that is valid at now, or one to be written.
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
