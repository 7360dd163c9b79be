package whatif

import (
	"cmp"
	"slices"

	"bourse/workloadgen"
)

// A reported is a plan of the jobs that users report.
type reported struct {
	Plan workloadgen.Plan
	Of   []int // for each reported job, the position in the true plan of the job that it represents completely or in part
}

// misreport replaces the true jobs by the reports of their users. The first part of a job keeps
// the job's number; other parts get new numbers. A user's additional names get new numbers,
// too. Jobs that arrive at the same time retain their order.
func misreport(truth workloadgen.Plan, by func(user int64) Deviation) reported {
	job, user := int64(0), int64(0)
	for i := range truth {
		job, user = max(job, truth[i].ID), max(user, truth[i].User)
	}
	named := make(map[[2]int64]int64) // numbers of a user's additional names, in order
	type claim struct {
		workloadgen.Job
		of int
	}
	var all []claim
	for i, j := range truth {
		d := by(j.User)
		k := d.kind()
		if k == nil {
			all = append(all, claim{j, i})
			continue
		}
		for n, part := range k.say(j, d.By) {
			if j.After != 0 {
				part.Think += max(0, part.Arrival-j.Arrival)
			}
			if n > 0 {
				job++
				part.ID = job
			}
			if n > 0 && k.names {
				at := [2]int64{j.User, int64(n)}
				if named[at] == 0 {
					user++
					named[at] = user
				}
				part.User = named[at]
			}
			all = append(all, claim{part, i})
		}
	}
	slices.SortStableFunc(all, func(a, b claim) int { return cmp.Compare(a.Arrival, b.Arrival) })
	var s reported
	for i := range all {
		s.Plan, s.Of = append(s.Plan, all[i].Job), append(s.Of, all[i].of)
	}
	return s
}

// usersOf returns the users of a plan in the order of their first jobs.
func usersOf(plan workloadgen.Plan) (users []int64) {
	for i := range plan {
		if !slices.Contains(users, plan[i].User) {
			users = append(users, plan[i].User)
		}
	}
	return users
}
