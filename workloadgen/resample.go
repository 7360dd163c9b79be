package workloadgen

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A Resample makes of one recorded plan another of the same kind, by drawing parts of it
// with replacement (bootstrap): replications of a log are then a sample of what might have
// been recorded, as far as its parts are independent.
type Resample struct {
	By     string  // user, each with all of its jobs as they came; or block of time, each with all jobs that arrive in it
	Length float64 // of a block, s; 0 is a week, which keeps what recurs every week
}

const week = 7 * 24 * 3600

// Apply returns a plan drawn from p: as many users or blocks as it has. Jobs are numbered
// from 1 and users, where these are drawn, from 1, in order of arrival. The error says why
// there is nothing to draw.
func (r Resample) Apply(p Plan, rng *rand.Rand) (Plan, error) {
	var parts []Plan
	var err error
	if r.By == "user" {
		parts, err = byUser(p, rng)
	} else {
		parts, err = r.byBlock(p, rng)
	}
	if err != nil {
		return nil, err
	}
	out := slices.Concat(parts...)
	slices.SortStableFunc(out, func(a, b Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	for i := range out {
		out[i].ID = int64(i) + 1
	}
	return out, nil
}

// byUser draws users.
func byUser(p Plan, rng *rand.Rand) (parts []Plan, err error) {
	of := make(map[int64]Plan)
	var users []int64
	for _, j := range p {
		if of[j.User] == nil {
			users = append(users, j.User)
		}
		of[j.User] = append(of[j.User], j)
	}
	if len(users) < 2 {
		return nil, fmt.Errorf("found %d users, want two or more to draw from", len(users))
	}
	for n := range users {
		own := slices.Clone(of[users[rng.IntN(len(users))]])
		for i := range own {
			own[i].User = int64(n) + 1
		}
		parts = append(parts, own)
	}
	return parts, nil
}

// byBlock draws blocks of time, from the first arrival on.
func (r Resample) byBlock(p Plan, rng *rand.Rand) (parts []Plan, err error) {
	length := cmp.Or(r.Length, week)
	if len(p) == 0 || p[len(p)-1].Arrival-p[0].Arrival < length {
		return nil, fmt.Errorf("found a span of less than a block of %g s, want two or more to draw from", length)
	}
	first := p[0].Arrival
	blocks := make([]Plan, int((p[len(p)-1].Arrival-first)/length)+1)
	for _, j := range p {
		i := min(int((j.Arrival-first)/length), len(blocks)-1)
		j.Arrival -= float64(i) * length
		blocks[i] = append(blocks[i], j)
	}
	for n := range blocks {
		drawn := slices.Clone(blocks[rng.IntN(len(blocks))])
		for i := range drawn {
			drawn[i].Arrival += float64(n) * length
		}
		parts = append(parts, drawn)
	}
	return parts, nil
}
