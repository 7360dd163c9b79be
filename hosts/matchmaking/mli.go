package matchmaking

import (
	"bourse/hosts/timetable"
	"bourse/workloadgen/plugin"
)

// MinImpact chooses the seller whose accepted jobs lose the least laxity (MLI, §3.1.7). Ties
// go to the earliest completion.
type MinImpact struct {
	options ImpactOptions
}

// ImpactOptions are the options of mli.
type ImpactOptions struct {
	// Scope selects the jobs whose laxity counts: reservations ("ar") or all jobs that have not
	// started ("all"). The default is "ar", because on-demand jobs have no laxity.
	Scope string `json:"zeta_scope" yaml:"zeta_scope" validate:"oneof=ar all" doc:"jobs whose laxity counts: ar (reservations) or all (jobs that have not started)"`

	// Scale is the scaling of laxity by the sellers' speeds. "mul" (the default) multiplies by
	// speed, because a second on a faster cluster could have absorbed more work. "div" divides,
	// and "none" does not scale. The paper scales but does not specify how.
	Scale string `json:"zeta_scale" yaml:"zeta_scale" validate:"oneof=mul div none" doc:"scaling of laxity by cluster speed: mul (times speed), div or none"`

	// Ties is the tie-break: "completion" (the default, as in the paper), then index; or only
	// "index", for orders with a common start.
	Ties string `json:"ties" yaml:"ties" validate:"oneof=completion index" doc:"tie-break: completion or index"`
}

func newMinImpact(decode plugin.Decoder) (Matchmaker, error) {
	m := MinImpact{ImpactOptions{Scope: "ar", Scale: "mul", Ties: "completion"}}
	err := decode(&m.options)
	return m, err
}

// Match implements [Matchmaker].
func (m MinImpact) Match(now int64, j timetable.Job, window []Seller) (Choice, bool) {
	return best(now, j, window, func(a, b *timetable.Quote) bool {
		if c := m.options.Impact(a).Cmp(m.options.Impact(b)); c != 0 || m.options.Ties == "index" {
			return c < 0
		}
		return earlier(a, b)
	})
}

// Lost returns the total laxity, in seconds, that q costs the jobs in Scope.
func (o *ImpactOptions) Lost(q *timetable.Quote) int64 {
	if o.Scope == "all" {
		return q.ZetaAll
	}
	return q.Zeta
}

// Impact returns Lost scaled by Scale. The reference speed is 1.
func (o *ImpactOptions) Impact(q *timetable.Quote) timetable.Ratio {
	lost := o.Lost(q)
	switch o.Scale { // speeds are in permille
	case "mul":
		return timetable.Ratio{Num: lost * q.Speed, Den: 1000}
	case "div":
		return timetable.Ratio{Num: lost * 1000, Den: q.Speed}
	}
	return timetable.Ratio{Num: lost, Den: 1}
}
