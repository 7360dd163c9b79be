package reserve

import (
	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/availability"
)

// A board is a market of hosts that a policy is told about by hand.
type board struct {
	contracts.View
	speeds   []float64
	away     []bool
	requests []contracts.Request
	waiting  []int32
}

func (b *board) Hosts() contracts.View { return b }

func (b *board) Waiting() []int32 { return b.waiting }

func (b *board) Request(i int32) *contracts.Request { return &b.requests[i] }

func (b *board) Fleet() int { return len(b.speeds) }

func (b *board) Away(h hosts.ID) bool { return b.away[h] }

func (b *board) History(hosts.ID) *availability.History { return nil }

func (b *board) Spec(h hosts.ID) *hosts.Spec {
	return &hosts.Spec{CPUs: 1, Speed: b.speeds[h], Room: hosts.Resources{Memory: 4}}
}
