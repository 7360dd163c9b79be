package models

import (
	"fmt"
	"math"
	"math/rand/v2"

	"bourse/workloadgen"
	"bourse/workloadgen/annotate"
	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
)

// LublinOptions are the options of "lublin".
type LublinOptions struct {
	Jobs  int `yaml:"jobs" validate:"min=1,max=1e8" doc:"jobs per plan"`
	Users int `yaml:"users" validate:"min=1,max=1e8" doc:"users, equally likely to submit a job"`
	Size  int `yaml:"size" validate:"min=4,max=16777216" doc:"processors of the machine: at least 10 for set whole or batch, 32 for interactive or both, 7 for farooq2006"`

	// Set is whole, batch, interactive, both (the batch and interactive streams together), or
	// farooq2006 (whole, fitted to the means that Farooq, Majumdar and Parsons (2006) state).
	Set string `yaml:"set" validate:"oneof=whole batch interactive both farooq2006" doc:"parameters: whole (default), batch, interactive, both, or farooq2006 (for the reservation paper, on 64 processors)"`

	// Change overrides single parameters of the set.
	Change LublinChange `yaml:"change" doc:"parameters that override the set's"`

	Cycle bool `yaml:"cycle" doc:"daily cycle of busy and quiet half hours; false makes arrivals uniform over the day"`

	annotate.Options `yaml:",inline"`
}

// LublinChange contains the parameters that may be changed, under their names in the authors'
// program.
type LublinChange struct {
	SerialProb *float64 `yaml:"serial_prob" validate:"min=0,max=1" doc:"probability of one processor"`
	Pow2Prob   *float64 `yaml:"pow2_prob" validate:"min=0,max=1" doc:"probability of a power of two"`
	ULow       *float64 `yaml:"ulow" validate:"min=0,max=24" doc:"log2 of the smallest parallel size"`
	UMed       *float64 `yaml:"umed" validate:"min=0,max=24" doc:"log2 of the size at which the two stages meet"`
	UHi        *float64 `yaml:"uhi" validate:"min=0,max=24" doc:"log2 of the largest size"`
	UProb      *float64 `yaml:"uprob" validate:"min=0,max=1" doc:"probability of the first stage"`
	A1         *float64 `yaml:"a1" validate:"min=1e-3,max=1e6" doc:"shape of the first gamma of ln runtime"`
	B1         *float64 `yaml:"b1" validate:"min=1e-6,max=1e3" doc:"scale of the first gamma of ln runtime"`
	A2         *float64 `yaml:"a2" validate:"min=1e-3,max=1e6" doc:"shape of the second gamma of ln runtime"`
	B2         *float64 `yaml:"b2" validate:"min=1e-6,max=1e3" doc:"scale of the second gamma of ln runtime"`
	PA         *float64 `yaml:"pa" validate:"min=-1e6,max=1e6" doc:"slope, over size, of the probability of the first gamma"`
	PB         *float64 `yaml:"pb" validate:"min=-1e6,max=1e6" doc:"probability of the first gamma at size 0"`
	AArr       *float64 `yaml:"aarr" validate:"min=1e-3,max=1e6" doc:"shape of the gamma of ln gap, times 1800"`
	BArr       *float64 `yaml:"barr" validate:"min=1e-6,max=1e3" doc:"scale of the gamma of ln gap"`
	ANum       *float64 `yaml:"anum" validate:"min=1e-3,max=1e6" doc:"shape of the gamma of the daily cycle"`
	BNum       *float64 `yaml:"bnum" validate:"min=1e-6,max=1e3" doc:"scale of the gamma of the daily cycle"`
	ARAR       *float64 `yaml:"arar" validate:"min=1e-3,max=1e3" doc:"factor on aarr"`
}

// Lublin is the workload of Lublin and Feitelson, "The workload on parallel
// supercomputers: modeling the characteristics of rigid jobs" (JPDC 63, 2003),
// after the authors' program. A job draws seven uniforms: gap, kind of size,
// stage of size, size, branch of runtime, runtime, user. The first job arrives
// at 0.
//
//   - Size: it is 1 with probability serial_prob. Otherwise it is 2^x, where x is two-stage
//     uniform and is rounded to an integer with probability pow2_prob.
//   - Runtime: it is e^X seconds. X has the first gamma distribution with probability pa n +
//     pb, where n is the size, and otherwise the second one, so wide jobs are long. X is at
//     most 12.
//   - Arrivals: gaps are e^Y/1800 points, where Y has a gamma distribution and is at most 13.
//     Half hour i of the day lasts w_i points, where w is the daily cycle.
//
// The authors' program draws a value again if it is beyond a bound. Here the distribution is
// conditioned on the bound instead. This gives the same distribution with one uniform per
// value.
type Lublin struct {
	o       LublinOptions
	streams []*lublinStream
}

// A lublinStream is a set of parameters prepared for sampling.
type lublinStream struct {
	p        lublinSet
	run1     dist.Distribution // ln runtime, conditioned
	run2     dist.Distribution
	in1, in2 float64           // probability that each gamma variable is within its bounds
	gap      dist.Distribution // distribution of ln(1800 × points)
	weights  [halfHours]float64
}

const (
	halfHours    = 48
	halfHour     = 1800.0 // seconds
	maxLnRuntime = 12.0
	maxLnGap     = 13.0
	cycleStart   = 11 // half hour at which the authors' day starts, 05:30
)

func newLublin(decode func(any) error) (workloadgen.Model, error) {
	o := DefaultLublin()
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewLublin(o)
}

// DefaultLublin returns the model without job types on 128 processors.
func DefaultLublin() LublinOptions {
	return LublinOptions{Jobs: 1000, Users: 10, Size: 128, Set: "whole", Cycle: true}
}

// NewLublin creates the model.
func NewLublin(o LublinOptions) (*Lublin, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	if err := o.Options.Validate(); err != nil {
		return nil, err
	}
	names := []string{o.Set}
	if o.Set == "both" {
		names = []string{"batch", "interactive"}
	}
	m := &Lublin{o: o}
	for _, name := range names {
		set := lublinSets[name]
		if least := set.least(); o.Size < least && o.Change.ULow == nil && o.Change.UMed == nil {
			return nil, fmt.Errorf("size %d: set %s wants at least %d, or another change.ulow or change.umed", o.Size, name, least)
		}
		s, err := newLublinStream(set.sized(o.Size).changed(o.Change), o.Cycle)
		if err != nil {
			return nil, err
		}
		m.streams = append(m.streams, s)
	}
	return m, nil
}

func newLublinStream(p lublinSet, cycle bool) (*lublinStream, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	s := &lublinStream{p: p}
	g1, g2 := dist.NewGamma(p.a1, p.b1), dist.NewGamma(p.a2, p.b2)
	s.in1, s.in2 = g1.CDF(maxLnRuntime), g2.CDF(maxLnRuntime)
	var err error
	if s.run1, err = dist.Within(g1, 0, maxLnRuntime); err != nil {
		return nil, err
	}
	if s.run2, err = dist.Within(g2, 0, maxLnRuntime); err != nil {
		return nil, err
	}
	if s.gap, err = dist.Within(dist.NewGamma(p.aarr*p.arar, p.barr), 0, maxLnGap); err != nil {
		return nil, err
	}
	s.weights = dayWeights(p.anum, p.bnum)
	if !cycle {
		for i := range s.weights {
			s.weights[i] = 1
		}
	}
	return s, nil
}

// dayWeights returns the number of points that each half hour of the day lasts, which measures
// how busy it is. Bucket 0 is 00:00 to 00:30, and the mean is 1. The weight of each half hour
// from 11 to 58 is proportional to the probability that a gamma variable is within half a step
// of it.
func dayWeights(shape, scale float64) [halfHours]float64 {
	var w [halfHours]float64
	law := dist.NewGamma(shape, scale)
	sum := 0.0
	for i := cycleStart; i < cycleStart+halfHours; i++ {
		x := law.CDF(float64(i)+0.5) - law.CDF(float64(i)-0.5)
		w[(i-1)%halfHours] = x
		sum += x
	}
	for i := range w {
		w[i] *= halfHours / sum
	}
	return w
}

// Plan implements [workloadgen.Model].
func (m *Lublin) Plan(src rand.Source, n int, into workloadgen.Plan) (workloadgen.Plan, error) {
	if n == 0 {
		n = m.o.Jobs
	}
	if n < 0 || n > maxJobs {
		return nil, fmt.Errorf("%d jobs is not in 1..%d", n, maxJobs)
	}
	var both [2]lublinClock
	clocks := both[:len(m.streams)]
	for i, s := range m.streams {
		clocks[i].advance(s, dist.Open(src))
	}
	plan := resize(into, n)
	for i := range plan {
		k := 0
		if len(clocks) == 2 && clocks[1].now < clocks[0].now {
			k = 1
		}
		s, at := m.streams[k], clocks[k].now
		clocks[k].advance(s, dist.Open(src))
		nodes := s.size(dist.Open(src), dist.Open(src), dist.Open(src), m.o.Size)
		runtime := s.runtime(nodes, dist.Open(src), dist.Open(src))
		plan[i] = workloadgen.Job{
			ID:       int64(i + 1),
			User:     1 + int64(dist.Open(src)*float64(m.o.Users)),
			Arrival:  at,
			Runtime:  runtime,
			Estimate: runtime,
			Deadline: runtime,
			Nodes:    nodes,
			Worth:    1,
		}
	}
	plan, _, err := m.o.Apply(plan, src)
	return plan, err
}

// size returns the number of processors of a job.
func (s *lublinStream) size(kind, stage, place float64, most int) int {
	p := &s.p
	if kind <= p.serialProb {
		return 1
	}
	lo, hi := p.ulow, p.umed
	if stage > p.uprob {
		lo, hi = p.umed, p.uhi
	}
	x := lo + place*(hi-lo)
	if kind <= p.serialProb+p.pow2Prob {
		x = math.Floor(x + 0.5)
	}
	return min(max(1, int(math.Floor(math.Exp2(x)+0.5))), most)
}

// runtime returns the runtime, in seconds, of a job on n processors.
func (s *lublinStream) runtime(n int, branch, u float64) float64 {
	// If branch and X are drawn again until X is within its bounds, the probability of each
	// branch is weighted by its probability of being within the bounds.
	p := math.Min(1, math.Max(0, s.p.pa*float64(n)+s.p.pb))
	first := p * s.in1
	law := s.run2
	if branch*(first+(1-p)*s.in2) < first {
		law = s.run1
	}
	return math.Max(1, math.Floor(math.Exp(law.Quantile(u))))
}

// A lublinClock is the current position of a stream of arrivals.
type lublinClock struct {
	now    float64 // seconds since 00:00 of the first day
	bucket int
	start  float64 // start of the bucket, in seconds
	points float64 // points of the bucket before now
}

func (c *lublinClock) advance(s *lublinStream, u float64) {
	c.points += math.Exp(s.gap.Quantile(u)) / halfHour
	for c.points > s.weights[c.bucket] {
		c.points -= s.weights[c.bucket]
		c.bucket = (c.bucket + 1) % halfHours
		c.start += halfHour
	}
	c.now = c.start + halfHour*c.points/s.weights[c.bucket]
}
