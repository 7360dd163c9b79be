package live

import (
	"maps"
	"slices"
	"strings"

	"bourse/hosts"
	"bourse/hosts/remote"
)

// A reach is a message that specifies how tasks on other hosts reach the tasks of a host.
type reach struct {
	Host    string   `json:"host"`
	Address string   `json:"address,omitempty"`
	Ports   [2]int32 `json:"ports"`          // first and last port
	Busy    []int32  `json:"busy,omitempty"` // ports that other programs use
}

const (
	leastPort  = 1024
	mostPort   = 1<<16 - 1
	mostBusy   = 1 << 12
	mostLetter = 255 // maximum number of bytes of an address
)

// reachOf returns the address and the ports that an agent offers, and omits invalid values.
func reachOf(host string, o *remote.Offer) reach {
	r := reach{Host: host, Address: o.Address, Ports: o.Ports}
	odd := func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune(".:-_%", c)
	}
	if len(r.Address) > mostLetter || strings.ContainsFunc(r.Address, odd) {
		r.Address = ""
	}
	if r.Ports[0] < leastPort || r.Ports[1] > mostPort || r.Ports[0] > r.Ports[1] {
		r.Ports = [2]int32{}
	}
	for _, port := range o.Busy {
		if port >= r.Ports[0] && port <= r.Ports[1] && len(r.Busy) < mostBusy {
			r.Busy = append(r.Busy, port)
		}
	}
	return r
}

func (r *reach) same(o *reach) bool {
	return r.Address == o.Address && r.Ports == o.Ports && slices.Equal(r.Busy, o.Busy)
}

// reaches reports whether the market has recorded the address and the ports that the host's
// agent now offers.
func (p *hostSeen) reaches(host string, o *remote.Offer) bool {
	r := reachOf(host, o)
	return r.same(&p.reach)
}

// connect records the hosts of the nodes of each running contract with several nodes. When all
// nodes have hosts, it chooses their ports.
func (k *core) connect() {
	var ids []int64
	for id, c := range k.open {
		if c.Nodes > 1 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	v := k.broker.View()
	for i := range k.hosts {
		on := v.On(hosts.ID(i))
		for n := range on {
			c := k.open[int64(v.Contract(on[n].Contract).ID)]
			if c == nil || c.Nodes < 2 {
				continue
			}
			if c.ranks == nil {
				c.ranks = make([]int32, c.Nodes)
			}
			c.ranks[on[n].Node] = int32(i) + 1
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		if c := k.open[id]; c.port == 0 && c.ranks != nil && !slices.Contains(c.ranks, 0) {
			c.port = k.freePort(c)
		}
	}
}

// freePort returns the first of the ports that c may use. They are in the port ranges of all
// its hosts, and no other contract or program uses them there. It returns 0 if there are no
// such ports. Hosts with the same address share their ports.
func (k *core) freePort(c *Contract) int32 {
	first, last := int32(leastPort), int32(mostPort)
	at, used := make(map[string]bool), make(map[int32]bool)
	for _, rank := range c.ranks {
		r := &k.hosts[rank-1].reach
		if r.Ports[0] == 0 {
			return 0
		}
		first, last = max(first, r.Ports[0]), min(last, r.Ports[1])
		at[k.where(rank)] = true
		for _, port := range r.Busy {
			used[port] = true
		}
	}
	for other := range maps.Values(k.open) {
		if other.port > 0 && slices.ContainsFunc(other.ranks, func(rank int32) bool { return rank > 0 && at[k.where(rank)] }) {
			for port := range int32(remote.BlockPorts) {
				used[other.port+port] = true
			}
		}
	}
	for port := first; port+remote.BlockPorts-1 <= last; port += remote.BlockPorts {
		free := true
		for n := range int32(remote.BlockPorts) {
			free = free && !used[port+n]
		}
		if free {
			return port
		}
	}
	return 0
}

// where returns the address of a host, or its name if the address is unknown. Rank is counted
// from 1.
func (k *core) where(rank int32) string {
	h := k.hosts[rank-1]
	if h.reach.Address == "" {
		return " " + h.Spec.Name
	}
	return h.reach.Address
}

// peers returns the addresses of the nodes of c if it has several nodes. An address is empty
// if it is unknown.
func (k *core) peers(c *Contract) (all []string) {
	for _, rank := range c.ranks {
		address := ""
		if rank > 0 {
			address = k.hosts[rank-1].reach.Address
		}
		all = append(all, address)
	}
	return all
}
