package broker

import "bourse/contracts"

// FreeLicences returns the number of units of the market's licence k that no contract holds. A
// contract holds units from its acceptance to its end, also while it waits to be placed again.
func (b *Broker) FreeLicences(k int) int32 { return b.Licences.Units[k] - b.licensed[k] }

// license adds sign times the licences of c to those that contracts hold.
func (b *Broker) license(c *contract, sign int32) {
	for k, n := range c.Licences {
		b.licensed[k] += sign * n
	}
}

// lacks reports whether fewer units of a licence are free than r holds.
func (b *Broker) lacks(r *contracts.Request) bool {
	for k, n := range r.Licences {
		if n > 0 && b.FreeLicences(k) < n {
			return true
		}
	}
	return false
}

// licenceFloor returns the part of the floor price of r's licences that counts for each node, in
// dollars per second.
func (b *Broker) licenceFloor(r *contracts.Request) float64 {
	if r.Licences == nil || b.Payment.noFloor() {
		return 0
	}
	return b.Licences.Floor(r.Licences) / float64(r.Nodes)
}
