package mixed

import (
	"testing"

	"bourse/contracts"
)

// A hearer is a decider that counts the outcomes of which it is notified.
type hearer struct {
	contracts.Decider
	heard int
}

// Judged is called by [admission.Judged].
func (h *hearer) Judged(*contracts.Request, contracts.Outcome) { h.heard++ }

// TestJudgedByClass checks that the policy of a class is notified only of its own contracts.
func TestJudgedByClass(t *testing.T) {
	t.Parallel()
	be, sac, cac := new(hearer), new(hearer), new(hearer)
	p := &byClass{policies: map[string]contracts.Decider{"be": be, "sac": sac, "cac": cac}, standard: be}
	for _, class := range []string{"", "be", "SAC", "none"} {
		p.Judged(&contracts.Request{Class: class}, contracts.Late)
	}
	if be.heard != 2 || sac.heard != 1 || cac.heard != 0 {
		t.Errorf("be has heard %d times, sac %d, cac %d, want 2, 1, 0", be.heard, sac.heard, cac.heard)
	}
}

// TestJudgedApart checks that, of two policies, only the one that admitted a contract is
// notified of its end, and only once.
func TestJudgedApart(t *testing.T) {
	t.Parallel()
	low, high := new(hearer), new(hearer)
	a := &adaptive{low: low, high: high, admitted: map[contracts.ID]bool{1: true, 2: false}}
	p := &partition{reservation: low, admitted: map[contracts.ID]bool{1: true}}
	for _, c := range []struct {
		by interface {
			Judged(*contracts.Request, contracts.Outcome)
		}
		id           contracts.ID
		lower, upper int
	}{
		{a, 1, 0, 1}, {a, 1, 0, 0}, {a, 2, 1, 0}, {a, 3, 0, 0},
		{p, 1, 1, 0}, {p, 1, 0, 0}, {p, 2, 0, 0},
	} {
		low.heard, high.heard = 0, 0
		c.by.Judged(&contracts.Request{ID: c.id}, contracts.Late)
		if low.heard != c.lower || high.heard != c.upper {
			t.Errorf("%T, contract %d: heard %d and %d, want %d and %d", c.by, c.id, low.heard, high.heard, c.lower, c.upper)
		}
	}
}
