package whatif

// rounds lets players answer one another: in turn each takes what is better for it, until
// none has found anything in a whole round, so many rounds have passed, or all play as they
// have before at the end of a round: they would go round for ever. Better changes what a
// player plays, and reports whether it did; again reports whether all play as before.
func rounds(players, most int, better func(player int) (bool, error), again func() bool) (n int, settled bool, err error) {
	still := 0 // players in a row who have found nothing
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

// A response is where users come to who answer one another.
type response struct {
	Plays   []Deviation // of each user, in order of their first jobs
	Rounds  int         // with the last, in which nobody found anything, if it settled
	Settled bool        // nobody gains more than epsilon by another deviation of those that are tried
	Circles bool        // they go round for ever
	Outcome payoff
}

// respond lets the users of m, who begin with the truth, take in turn the best of the truth and
// those deviations that leave jobs their form, if it gains them more than epsilon, until nobody
// does or so many rounds have passed. Truth is what the truth comes to.
func (m *game) respond(truth payoff, deviations []Deviation, epsilon float64, most int) (a response, err error) {
	users := usersOf(m.Truth)
	plays := make(map[int64]Deviation)
	before := make(map[string]bool) // what all have played at the end of a round
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
