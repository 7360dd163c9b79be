package calibrate

import (
	"fmt"
	"math"
	"slices"

	"bourse/experiments/stats"
)

// A Point is what one policy kept of what it promised with probability G.
type Point struct {
	Configuration string  `json:"configuration"`
	Policy        string  `json:"policy"`
	Forecaster    string  `json:"forecaster"`
	G             float64 `json:"g" doc:"what is promised, a probability"`
	Price         Kept    `json:"price" doc:"that the others bid at most the percentile, until the deadline, on each host that was asked about: parts of that time"`
	Pinball       float64 `json:"pinball" doc:"mean pinball loss of the percentile over that time, $/s"`
	Contract      Kept    `json:"contract" doc:"that an accepted contract is fulfilled"`
	Cost
	Less *Cost `json:"less" doc:"the same less that of another policy, replication by replication; null unless asked for"`
}

// A Report is promised against kept, for both things that g can mean.
type Report struct {
	Scenario     string   `json:"scenario"`
	Replications int      `json:"replications"`
	Less         string   `json:"less" doc:"policy that costs are held against, empty if none is"`
	Points       []Point  `json:"points" doc:"by configuration, policy and forecaster, in order of g"`
	Scores       []Scores `json:"scores" doc:"of the points of each, together"`
	Notes        []string `json:"notes"`
	Files        []string `json:"files" doc:"that were written"`
}

// Scores are those of one configuration, policy and forecaster, over all its points.
type Scores struct {
	Configuration string `json:"configuration"`
	Policy        string `json:"policy"`
	Forecaster    string `json:"forecaster"`
	Price         *Score `json:"price" doc:"null if the policy promises no price: it asks for other percentiles than that of g"`
	Contract      *Score `json:"contract" doc:"null if it accepted nothing"`
}

// A Score says how far promises are from what was kept.
type Score struct {
	Off     float64  `json:"off" doc:"mean of |kept - g|"`
	Worst   float64  `json:"worst" doc:"the least of kept - g: below 0, promises were broken"`
	Brier   float64  `json:"brier" doc:"mean Brier score"`
	Pinball *float64 `json:"pinball" doc:"of prices: mean pinball loss, $/s"`
}

// New returns the report of points, whose costs are held against those of the policy less.
func New(name string, replications int, points []Point, less string, notes []string) *Report {
	r := &Report{Scenario: name, Replications: replications, Less: less, Points: points, Scores: []Scores{}, Files: []string{}}
	lines := r.lines()
	r.Points = slices.Concat(lines...)
	for _, of := range lines {
		s := Scores{Configuration: of[0].Configuration, Policy: of[0].Policy, Forecaster: of[0].Forecaster}
		s.Price = score(of, func(p *Point) *Kept { return &p.Price })
		s.Contract = score(of, func(p *Point) *Kept { return &p.Contract })
		if s.Price != nil {
			var losses []float64
			for _, p := range of {
				if p.Price.Promises > 0 {
					losses = append(losses, p.Pinball)
				}
			}
			s.Price.Pinball = new(stats.Mean(losses))
		}
		r.Scores = append(r.Scores, s)
	}
	r.Notes = append(slices.Clip(notes),
		fmt.Sprintf("Shares are means over %d replications; their 95 %% intervals are score intervals of clustered trials, a replication being a cluster.", replications),
		"Price: for each host that the policy asked about, accepted or not, the part of the time until the deadline for which the others bid at most the percentile. Time after the last event of a run is left out. A policy that asks for other percentiles than that of g promises no price.",
		"Contract: accepted contracts that were fulfilled. What was taken back, or was at work when the market closed, counts for neither.")
	return r
}

// lines returns the points of each configuration, policy and forecaster, all three in order
// of appearance.
func (r *Report) lines() (all [][]Point) {
	type key [3]string
	seen := [3]map[string]int{{}, {}, {}}
	at := make(map[key][]Point)
	var keys []key
	for _, p := range r.Points {
		k := key{p.Configuration, p.Policy, p.Forecaster}
		if at[k] == nil {
			keys = append(keys, k)
		}
		at[k] = append(at[k], p)
		for i, name := range k {
			if _, ok := seen[i][name]; !ok {
				seen[i][name] = len(seen[i])
			}
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		for i := range a {
			if a[i] != b[i] {
				return seen[i][a[i]] - seen[i][b[i]]
			}
		}
		return 0
	})
	for _, k := range keys {
		all = append(all, at[k])
	}
	return all
}

// score returns the scores of points that promise anything, nil if none does.
func score(points []Point, of func(*Point) *Kept) *Score {
	s := &Score{Worst: math.Inf(1)}
	n := 0.0
	for i := range points {
		k := of(&points[i])
		if k.Promises == 0 {
			continue
		}
		n++
		s.Off += math.Abs(k.Kept - points[i].G)
		s.Worst = min(s.Worst, k.Kept-points[i].G)
		s.Brier += k.Brier
	}
	if n == 0 {
		return nil
	}
	s.Off, s.Brier = s.Off/n, s.Brier/n
	return s
}
