package report

// A Datum is one data point of a panel. Mean may be nil. Lo and Hi may both be nil.
type Datum struct {
	Panel, Curve string
	Group        string  // name of the group, in a panel of bars
	X            float64 // position on the x axis, in a panel of lines
	Mean, Lo, Hi *float64
	N            int // number of replications, as in [Point]
	Row          string
}

// Lines returns a panel with lines for each panel named in data. X may be any swept value.
// Panels and curves are in the order of their first appearance.
func Lines(data []Datum) []Panel { return panels(data, false) }

// panels returns a panel for each panel named in data. If bars is set, panels show grouped
// bars; if not, they show lines. Panels, groups and curves are in the order of their first
// appearance.
func panels(data []Datum, bars bool) []Panel {
	var all []Panel
	for _, title := range distinct(data, func(d Datum) string { return d.Panel }) {
		var own []Datum
		for _, d := range data {
			if d.Panel == title {
				own = append(own, d)
			}
		}
		p := Panel{Title: title}
		if bars {
			p.Groups = distinct(own, func(d Datum) string { return d.Group })
		}
		for _, name := range distinct(own, func(d Datum) string { return d.Curve }) {
			p.Curves = append(p.Curves, Curve{name, points(own, name, p.Groups)})
		}
		all = append(all, p)
	}
	return all
}

// points returns the points of one curve. If there are groups, X is the index of the group.
func points(data []Datum, curve string, groups []string) []Point {
	index := make(map[string]int)
	for i, g := range groups {
		index[g] = i
	}
	var pts []Point
	for _, d := range data {
		if d.Curve != curve || d.Mean == nil {
			continue
		}
		p := Point{d.X, *d.Mean, *d.Mean, *d.Mean, d.N, d.Row}
		if groups != nil {
			p.X = float64(index[d.Group])
		}
		if d.Lo != nil && d.Hi != nil {
			p.Lo, p.Hi = *d.Lo, *d.Hi
		}
		pts = append(pts, p)
	}
	return pts
}
