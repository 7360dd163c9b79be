package sched

import (
	"errors"
	"math/rand/v2"
	"slices"

	"bourse/hosts"
	"bourse/hosts/availability/predictors"
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
)

// PPSOptions are the options of "pps".
type PPSOptions struct {
	// Load is the definition of a host's load. With "local" (the default), it is only the
	// owner's load. With "local+grid", it is the part of the host that the owner and the
	// current jobs would take from one more job. With "binary", it is the whole host as soon as
	// the host has a job.
	Load string `yaml:"pps_load" validate:"oneof=local local+grid binary" doc:"load of a host: local (its owner's), local+grid (plus its jobs and one more) or binary (full if it has a job)"`

	// Tie is the tie-break for equal scores. It chooses the lowest index ("index", the
	// default), or the fewest jobs and then the lowest index ("fewest"). With "rotate", it
	// chooses the next host after the host chosen last, and with "random" a random host.
	Tie string `yaml:"pps_tie" validate:"oneof=index fewest rotate random" doc:"tie-break for equal scores: index, fewest (jobs), rotate or random"`

	// Busy makes hosts that run jobs eligible, as the paper describes PPS; default true. If it
	// is false, jobs wait in the queue for idle hosts.
	Busy bool `yaml:"busy" doc:"also considers hosts with jobs; if false, jobs wait for idle hosts"`

	// Predictor predicts completion; default tde.
	Predictor config.Spec `yaml:"predictor" doc:"predictor of completion"`
}

// DefaultPPS returns the options that reproduce the paper.
func DefaultPPS() PPSOptions {
	return PPSOptions{Load: "local", Tie: "index", Busy: true, Predictor: config.Spec{Name: "tde"}}
}

// PPS chooses the host with the highest score, even if it is 0 (eq. 1):
//
//	RS(i) = C(i) M(i) (1 - L(i))
//
// where C is the probability of completion, M the MIPS and L the load.
type PPS struct {
	o         PPSOptions
	predictor predictors.Predictor
	judge     predictors.Judge // predictor, if it implements Judge; nil if it does not
	rng       *rand.Rand
	last      hosts.ID
	best      []hosts.ID // hosts with the highest score
	most      []float64  // M (1 - L) of each host; -1 if the host is not eligible
}

// even is the relative difference below which scores count as equal, because equal fractions
// may differ as floats.
const even = 1e-12

// apart is the relative difference above which a score is lower despite any rounding.
const apart = 1e-9

func newPPS(rng *rand.Rand) func(plugin.Decoder) (Matchmaker, error) {
	return func(decode plugin.Decoder) (Matchmaker, error) {
		o := DefaultPPS()
		if err := decode(&o); err != nil {
			return nil, err
		}
		p, err := predictors.Table().New(o.Predictor.Name, o.Predictor.Decode)
		if err != nil {
			return nil, err
		}
		return NewPPS(o, p, rng)
	}
}

// NewPPS creates the matchmaker with predictor p, regardless of the predictor in the options.
// The error names the invalid option.
func NewPPS(o PPSOptions, p predictors.Predictor, rng *rand.Rand) (*PPS, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	if o.Tie == "random" && rng == nil {
		return nil, errors.New("no source of chance")
	}
	judge, _ := p.(predictors.Judge)
	return &PPS{o: o, predictor: p, judge: judge, rng: rng, last: None}, nil
}

// Match implements [Matchmaker]. Times must not decrease. A host's score is at most its score
// with certain completion. If even that is too low, Match skips the forecast. It also skips
// hosts that a judge finds insufficiently reliable.
func (s *PPS) Match(now, length float64, p *Pool) hosts.ID {
	s.best = s.best[:0]
	s.most = s.most[:0]
	promising := None
	for i := range p.Len() {
		h := hosts.ID(i)
		most := -1.0
		if p.IsAvailable(h) && (s.o.Busy || p.isIdle(h)) {
			most = p.History(h).MIPS * (1 - s.load(now, h, p))
			if promising == None || most > s.most[promising] {
				promising = h
			}
		}
		s.most = append(s.most, most)
	}
	if promising == None {
		return None
	}
	enough := s.score(now, length, p, promising) * (1 - apart)
	if s.last != None && s.most[s.last] >= enough { // the previous best may still be tied
		enough = max(enough, s.score(now, length, p, s.last)*(1-apart))
	}
	top := 0.0
	for i, most := range s.most {
		h := hosts.ID(i)
		if most < 0 || most < enough || !s.reaches(now, length, p, h, enough) {
			continue
		}
		score := s.score(now, length, p, h)
		switch {
		case len(s.best) == 0 || score > top*(1+even):
			top = score
			enough = max(enough, top*(1-apart))
			s.best = append(s.best[:0], h)
		case score >= top*(1-even):
			s.best = append(s.best, h)
		}
	}
	s.last = s.untie(p)
	return s.last
}

// score returns RS(i) of eq. 1, where most is its value if completion is certain.
func (s *PPS) score(now, length float64, p *Pool, h hosts.ID) float64 {
	return s.predictor.Predict(p.History(h), now, length/p.Speed(h)).Completes * s.most[h]
}

// reaches reports whether RS(i) may be at least enough.
func (s *PPS) reaches(now, length float64, p *Pool, h hosts.ID, enough float64) bool {
	return s.judge == nil || enough <= 0 || s.judge.AtLeast(&p.pasts[h], now, length/p.Speed(h), enough/s.most[h]*(1-apart))
}

func (s *PPS) load(now float64, h hosts.ID, p *Pool) float64 {
	local := p.load(now, h)
	switch k := p.jobs(h); {
	case s.o.Load == "local+grid":
		return 1 - (1-local)/float64(k+1)
	case s.o.Load == "binary" && k > 0:
		return 1
	}
	return local
}

// untie chooses among the best hosts, which are in order of index.
func (s *PPS) untie(p *Pool) hosts.ID {
	switch s.o.Tie {
	case "fewest":
		return slices.MinFunc(s.best, func(a, b hosts.ID) int { return p.jobs(a) - p.jobs(b) })
	case "rotate":
		for _, h := range s.best {
			if h > s.last {
				return h
			}
		}
	case "random":
		return s.best[s.rng.IntN(len(s.best))]
	}
	return s.best[0]
}

// Piles implements [Matchmaker].
func (s *PPS) Piles() bool { return s.o.Busy }
