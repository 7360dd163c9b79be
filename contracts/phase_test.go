package contracts

import "testing"

// TestMoves checks the table. Every phase except Ended can be left, and every phase except
// Asked can be reached. An outcome is given only at the end, a contract whose budget is held is
// never Refused, and no two lines are equal.
func TestMoves(t *testing.T) {
	t.Parallel()
	var from, to [Ended + 1]bool
	seen := map[[2]uint8]bool{}
	for _, m := range Moves {
		from[m.From], to[m.To] = true, true
		key := [2]uint8{uint8(m.From), uint8(m.On)}
		switch p := m.From; {
		case seen[key]:
			t.Errorf("%v on %v stands twice", m.From, m.On)
		case m.From == Ended, m.To != Ended && m.Outcome != Open, m.Outcome == Refused && m.From != Asked:
			t.Errorf("%v on %v to %v, %v", m.From, m.On, m.To, m.Outcome)
		case p.Next(m.On) != m.Outcome || p != m.To:
			t.Errorf("%v on %v leads to %v", m.From, m.On, p)
		}
		seen[key] = true
	}
	for p := range Ended {
		if !from[p] || p > Asked && !to[p] {
			t.Errorf("%v cannot be left or reached", p)
		}
		for e := range Cause(causes) {
			if seen[[2]uint8{uint8(p), uint8(e)}] {
				continue
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v on %v is not in the table and does not panic", p, e)
					}
				}()
				q := p
				q.Next(e)
			}()
		}
	}
}
