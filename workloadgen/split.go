package workloadgen

import (
	"math"

	"bourse/bank/exact"
)

// Split divides a budget in dollars among the jobs of each user, in proportion to the product
// of each job's weights, which must be at least 0. Each value is the exact quotient, rounded
// toward zero to micro-dollars, so a user's jobs never exceed the budget. If all weights of a
// user are 0, its jobs keep their values.
func (p Plan) Split(budget float64, weights func(j *Job) [3]float64) {
	sums := newSums(p)
	for i := range p {
		s := sums.of(p[i].User)
		s.weight += weight(weights(&p[i]))
		s.jobs++
	}
	var exactly map[int64]*exact.Sum // created when a quotient is too close to a whole micro-dollar
	for i := range p {
		j := &p[i]
		s := sums.of(j.User)
		if s.weight == 0 {
			continue
		}
		micros := budget * 1e6 * (weight(weights(j)) / s.weight)
		off := micros * (s.jobs + 16) * 0x1p-52 // maximum error
		whole := math.Floor(micros)
		if micros-whole <= off || whole+1-micros <= off {
			if exactly == nil {
				exactly = p.weigh(weights)
			}
			w := weights(j)
			n, _ := exactly[j.User].Trunc(6, budget, w[0], w[1], w[2]) // at most the budget
			whole = float64(n)
		}
		j.Value = whole / 1e6
	}
}

// weigh returns the exact sum of the weights of each user's jobs.
func (p Plan) weigh(weights func(j *Job) [3]float64) map[int64]*exact.Sum {
	sums := make(map[int64]*exact.Sum)
	for i := range p {
		s := sums[p[i].User]
		if s == nil {
			s = new(exact.Sum)
			sums[p[i].User] = s
		}
		w := weights(&p[i])
		s.Add(w[0], w[1], w[2])
	}
	return sums
}

// A sum is the total over the jobs of a user.
type sum struct{ weight, jobs float64 }

// sums holds the sums of users. It does not allocate if all user numbers are small.
type sums struct {
	few  [64]sum
	many map[int64]*sum
}

func newSums(p Plan) (s sums) {
	for i := range p {
		if p[i].User >= int64(len(s.few)) {
			s.many = make(map[int64]*sum)
			break
		}
	}
	return s
}

func (s *sums) of(user int64) *sum {
	if user < int64(len(s.few)) {
		return &s.few[user]
	}
	found := s.many[user]
	if found == nil {
		found = new(sum)
		s.many[user] = found
	}
	return found
}

func weight(w [3]float64) float64 { return w[0] * (w[1] * w[2]) }

// Weights returns the factors of Worth × [Job.Work].
func (j *Job) Weights() [3]float64 { return [3]float64{j.Worth, j.Runtime, float64(j.Nodes)} }
