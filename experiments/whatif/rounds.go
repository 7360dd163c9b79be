package whatif

// rounds lets players respond to one another: in turn, each takes a better report. It stops
// when nobody has found one in a whole round, after the given number of rounds, or when all
// play as at the end of an earlier round, because they would cycle. Better changes a player's
// report and reports whether it did; again reports whether all play as before.
func rounds(players, most int, better func(player int) (bool, error), again func() bool) (n int, settled bool, err error) {
	still := 0 // consecutive players who have found nothing
	for n = 1; n <= most; n++ {
		for p := range players {
			moved, err := better(p)
			if err != nil {
				return n, false, err
			}
			if still++; moved {
				still = 0
			}
			if still == players {
				return n, true, nil
			}
		}
		if again() {
			return n, false, nil
		}
	}
	return most, players == 0, nil
}

// A response is the final state when users respond to one another.
type response struct {
	Plays   []Deviation // report of each user, in order of their first jobs
	Rounds  int         // number of rounds, including the last, in which nobody found anything, if it settled
	Settled bool        // nobody gains more than epsilon by another of the deviations
	Circles bool        // they cycle
	Outcome payoff
}

// respond lets the users of m, starting from the truth, choose in turn the best of the truth
// and the deviations that keep the form of jobs, if that gains them more than epsilon. It
// stops when nobody gains, or after the given number of rounds. Truth is the outcome of the
// truth.
func (m *game) respond(truth payoff, deviations []Deviation, epsilon float64, most int) (a response, err error) {
	users := usersOf(m.Truth)
	plays := make(map[int64]Deviation)
	before := make(map[string]bool) // reports of all at the end of each round
	a.Outcome = truth
	choices := []Deviation{{}}
	for _, d := range deviations {
		if k := d.kind(); k != nil && !k.divides {
			choices = append(choices, d)
		}
	}
	a.Rounds, a.Settled, err = rounds(len(users), most, func(p int) (moved bool, err error) {
		u := users[p]
		was, best := plays[u], plays[u]
		found := a.Outcome
		for _, d := range choices {
			if d == was {
				continue
			}
			plays[u] = d
			o, err := m.payoff(func(user int64) Deviation { return plays[user] })
			if err != nil {
				return false, err
			}
			if o.Utility[u] > found.Utility[u] {
				best, found = d, o
			}
		}
		if moved = found.Utility[u]-a.Outcome.Utility[u] > epsilon; !moved {
			best, found = was, a.Outcome
		}
		plays[u], a.Outcome = best, found
		return moved, nil
	}, func() bool {
		now := ""
		for _, u := range users {
			now += plays[u].String() + " "
		}
		a.Circles = before[now]
		before[now] = true
		return a.Circles
	})
	for _, u := range users {
		a.Plays = append(a.Plays, plays[u])
	}
	return a, err
}
