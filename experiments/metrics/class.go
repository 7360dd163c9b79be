package metrics

// ofClass is m over the jobs of high urgency alone, or over the others. It is
// undefined where no job is of high urgency: there are no classes then.
func ofClass(m Metric, urgent bool) Metric {
	of, name := m.Of, "low"
	if urgent {
		name = "high"
	}
	m.Name += "_" + name
	m.Doc += ", those of " + name + " urgency"
	m.Of = func(o *Outcome) (float64, bool) {
		class, any := *o, false
		class.Jobs = make([]Job, 0, len(o.Jobs))
		for i := range o.Jobs {
			any = any || o.Jobs[i].Urgent
			if o.Jobs[i].Urgent == urgent {
				class.Jobs = append(class.Jobs, o.Jobs[i])
			}
		}
		if !any {
			return 0, false
		}
		return of(&class)
	}
	return m
}
