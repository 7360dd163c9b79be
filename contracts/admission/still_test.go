package admission

import (
	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// still is a market that stands still at instant 0.
type still struct {
	contracts.View
	specs     []hosts.Spec
	on        [][]contracts.Allocation
	contracts []contracts.Contract
}

func (s *still) Fleet() int { return len(s.specs) }

func (s *still) Spec(h hosts.ID) *hosts.Spec { return &s.specs[h] }

func (s *still) Room(h hosts.ID) hosts.Resources { return s.specs[h].Room }

func (s *still) Price(hosts.ID) market.Rate { return 0 }

func (s *still) On(h hosts.ID) []contracts.Allocation { return s.on[h] }

func (s *still) Changed() []hosts.ID { return nil }

func (s *still) Contract(i int32) *contracts.Contract { return &s.contracts[i] }

func (s *still) Away(hosts.ID) bool { return false }
