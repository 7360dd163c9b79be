package whatif

// rounds lets players respond to each other. In turn, each player switches to a better report
// if there is one. It stops after the given number of rounds, or after a round in which no
// player switched. rounds also stops if all reports are the same as after an earlier round,
// because the players would then cycle. The function better changes a player's report if
// possible and reports whether it did. The function again reports whether the players' reports
// have occurred before.
func rounds(players, most int, better func(player int) (bool, error), again func() bool) (n int, settled bool, err error) {
	still := 0 // number of consecutive players who did not switch
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

// A response is the final state after users have responded to one another.
type response struct {
	Plays   []Deviation // report of each user, in the order of the users' first jobs
	Rounds  int         // number of rounds; if settled, it includes the last round, in which no user switched
	Settled bool        // whether no user gains more than epsilon by another deviation
	Circles bool        // whether the reports cycle
	Outcome payoff
}

// respond lets the users of m respond to one another, starting from truthful reports. In turn,
// each user switches to the best of the truth and the deviations that do not split jobs, if the
// user then gains more than epsilon. It stops when no user gains, or after the given number of
// rounds. The argument truth is the payoff if all users are truthful.
func (m *game) respond(truth payoff, deviations []Deviation, epsilon float64, most int) (a response, err error) {
	users := usersOf(m.Truth)
	plays := make(map[int64]Deviation)
	before := make(map[string]bool) // reports of all users at the end of each round
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
