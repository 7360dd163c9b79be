package metrics

// ofClass restricts m to jobs of high urgency or to the other jobs. The metric is undefined
// if no job has high urgency, because there are then no classes.
func ofClass(m Metric, urgent bool) Metric {
	of, name := m.Of, "low"
	if urgent {
		name = "high"
	}
	m.Name += "_" + name
	m.Doc += ", those of " + name + " urgency"
	m.Of = func(o *Outcome) (float64, bool) {
		any := false
		for i := range o.Jobs {
			any = any || o.Jobs[i].Urgent
		}
		if !any {
			return 0, false
		}
		return of(class(o, urgent))
	}
	if trials := m.Trials; trials != nil {
		m.Trials = func(o *Outcome) int { return trials(class(o, urgent)) }
	}
	return m
}

// class returns a copy of o with only the jobs of one class.
func class(o *Outcome, urgent bool) *Outcome {
	some := *o
	some.Jobs = make([]Job, 0, len(o.Jobs))
	for i := range o.Jobs {
		if o.Jobs[i].Urgent == urgent {
			some.Jobs = append(some.Jobs, o.Jobs[i])
		}
	}
	return &some
}
