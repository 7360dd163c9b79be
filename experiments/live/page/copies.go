package page

import "sync"

// A copies stores the latest copy of each page, so that many readers of a page cost no more
// than one reader.
type copies struct {
	mu  sync.Mutex
	all map[string]*copied // by path
}

// A copied is a copy of a page. The first reader creates its text, and the other readers wait
// for it.
type copied struct {
	at     float64 // instant
	once   sync.Once
	status int
	text   []byte
}

const (
	fresh      = 0.5 // validity of a copy in seconds; after an event, page.js waits longer than this
	mostCopies = 256
	longest    = 100 // maximum length of the path of a copied page, in bytes
)

// of returns the copy of a page that is valid at time now. If there is no valid copy, it
// returns an empty copy to be filled.
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
