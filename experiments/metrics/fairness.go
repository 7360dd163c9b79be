package metrics

import (
	"math"
	"slices"
)

// A party is a user with sums over the user's jobs.
type party struct {
	served, work float64 // work done by the deadlines, and work requested, in processor-seconds
	value, bill  float64 // values, and payments minus penalties, in dollars
	slowdown     float64 // sum of bounded slowdowns over the completed jobs
	completed    int
}

// share returns the fraction of the user's work that was done by the deadlines.
func (p *party) share() float64 { return p.served / p.work }

// parties returns the users that requested work, in the order of their numbers.
func (o *Outcome) parties() (all []party) {
	by := make(map[int64]*party)
	var users []int64
	for i := range o.Jobs {
		j := &o.Jobs[i]
		p := by[j.User]
		if p == nil {
			p = new(party)
			by[j.User] = p
			users = append(users, j.User)
		}
		p.work += j.Work()
		p.value += j.worth()
		if j.Admitted() {
			p.served += j.Contract.ByDue
			p.bill += j.revenue()
		}
		if j.completed() {
			p.slowdown += max(1, j.response()/max(j.Runtime, Tau))
			p.completed++
		}
	}
	slices.Sort(users)
	for _, u := range users {
		if by[u].work > 0 {
			all = append(all, *by[u])
		}
	}
	return all
}

// Jain is the fairness index of Jain, Chiu, Hawe, "A Quantitative Measure of Fairness and
// Discrimination", 1984.
var Jain = Metric{
	Name: "jain", Label: "Jain's index", Unit: "1", Bound: Proportion,
	Doc: "(sum x)² / (n sum x²), for fractions x of each user's work done by the deadlines; computed only if a figure or search names the metric",
	Of: func(o *Outcome) (float64, bool) {
		sum, squares, users := 0.0, 0.0, o.parties()
		for i := range users {
			x := users[i].share()
			sum += x
			squares += x * x
		}
		return over(sum*sum, float64(len(users))*squares)
	},
}

// Gini is the Gini coefficient of the work done, which is a measure of inequality.
var Gini = Metric{
	Name: "gini", Label: "Gini coefficient", Unit: "1", Bound: Proportion, Less: true,
	Doc: "Gini coefficient of users' work done by deadlines: mean absolute difference / (2 x mean); computed only if a figure or search names the metric",
	Of: func(o *Outcome) (float64, bool) {
		var served []float64
		for _, p := range o.parties() {
			served = append(served, p.served)
		}
		slices.Sort(served)
		sum, differences, n := 0.0, 0.0, len(served)
		for i, a := range served {
			sum += a
			differences += a * float64(2*i+1-n) // sum over unordered pairs
		}
		return over(differences, float64(n)*sum)
	},
}

// Envy measures how much users would prefer the work and the payments of another user to their
// own.
var Envy = Metric{
	Name: "envy", Unit: "1", Less: true,
	Doc: "largest gain from swapping work and payments with another user / value of the user's jobs, averaged over users; computed only if a figure or search names the metric",
	Of: func(o *Outcome) (float64, bool) {
		users := o.parties()
		sum, n := 0.0, 0.0
		for i := range users {
			u := &users[i]
			if u.value <= 0 {
				continue
			}
			most, own := math.Inf(-1), 0.0
			for j := range users {
				b := u.value*min(users[j].served, u.work)/u.work - users[j].bill
				if most = max(most, b); i == j {
					own = b
				}
			}
			sum += (most - own) / u.value // at least 0, because the maximum includes the user's own work and payments
			n++
		}
		return over(sum, n)
	},
}

// Disparity compares the user with the longest delays with the median user.
var Disparity = Metric{
	Name: "disparity", Unit: "1", Less: true,
	Doc: "largest / median, over users, of the mean bounded slowdown of a user's completed jobs; computed only if a figure or search names the metric",
	Of: func(o *Outcome) (float64, bool) {
		var slow []float64
		for _, p := range o.parties() {
			if p.completed > 0 {
				slow = append(slow, p.slowdown/float64(p.completed))
			}
		}
		n := len(slow)
		if n == 0 {
			return 0, false
		}
		slices.Sort(slow)
		return over(slow[n-1], (slow[(n-1)/2]+slow[n/2])/2)
	},
}

// welfareOf is [Welfare] for the jobs of one urgency. The two welfares add up to the welfare of
// all jobs, so the welfare of low urgency is defined even if no job has high urgency.
func welfareOf(urgent bool) Metric {
	m := ofClass(Welfare, urgent)
	if of := m.Of; !urgent {
		m.Of = func(o *Outcome) (float64, bool) {
			if x, ok := of(o); ok {
				return x, true
			}
			return Welfare.Of(class(o, false))
		}
	}
	return m
}
