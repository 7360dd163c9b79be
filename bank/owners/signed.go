package owners

import (
	"bourse/bank"
	"bourse/bank/order"
)

// Signed is the signed order in the note of an entry. A journal passes it to the owners and
// does not interpret it.
type Signed = order.Signed

// Open returns the order in a note, or nil if the note contains none.
func Open(note []byte) *Signed {
	s, err := order.Open(note)
	if err != nil {
		return nil
	}
	return s
}

// Opens yields the accounts that e, with the order s, would open if they do not exist. The
// argument s is nil if e contains no order.
func Opens(e *bank.Entry, s *Signed, yield func(string) bool) {
	for i := range e.Moves {
		if to := e.Moves[i].To; !bank.IsEscrow(to) && !yield(to) {
			return
		}
	}
	if s != nil && e.Kind == bank.Owner && s.Value("of") != "" {
		yield(s.Value("of"))
	}
}

// Same reports whether an order (again) repeats an earlier one (first). The two orders must
// have the same text. The later order must be signed with the same keys, or with the current
// key of the account. The result is false if first is nil.
func (o *Owners) Same(first, again *Signed) bool {
	return first != nil && first.Text() == again.Text() && (first.SameAs(again) || again.By(o.Key(again.Value("account"))))
}
