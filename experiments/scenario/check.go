package scenario

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// check checks constraints across fields, and names.
func check(e *Experiment, root *node, known Known) error {
	if name := root.get("base").get("name"); name != nil {
		return fail(name.at, "base.name", "found %s, want no name: base is not a configuration", name.found())
	}
	if !word.MatchString(e.Name) {
		return notWord(root, "", "name")
	}
	if err := checkAlphas(e.Alphas, root.get("alphas")); err != nil {
		return err
	}
	if err := checkFigure(e.Figure, root.get("figure"), known.Metrics); err != nil {
		return err
	}
	if err := checkUntil(e, root.get("until"), known.Metrics); err != nil {
		return err
	}
	if err := checkSweep(e.Sweep, len(e.Configurations), root.get("sweep")); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range e.Configurations {
		c, n := &e.Configurations[i], root.get("configurations").items[i]
		path := join("configurations", n.segment(strconv.Itoa(i)))
		if !word.MatchString(c.Name) {
			return notWord(n, path, "name")
		}
		if seen[c.Name] {
			return fail(n.get("name").at, path, "found twice, want unique names")
		}
		seen[c.Name] = true
		if err := c.check(n, path, known); err != nil {
			return err
		}
	}
	return checkLess(e, root.get("figure").get("less"))
}

// checkLess checks that the baseline policy of the figure exists.
func checkLess(e *Experiment, n *node) error {
	if e.Figure == nil || e.Figure.Less == "" {
		return nil
	}
	var labels []string
	for i := range e.Configurations {
		for _, a := range e.Configurations[i].Admission {
			if a.Label == e.Figure.Less {
				return nil
			}
			if !slices.Contains(labels, a.Label) {
				labels = append(labels, a.Label)
			}
		}
	}
	return fail(n.at, "figure.less", "found %q, %s", clip(e.Figure.Less), OneOf(e.Figure.Less, labels))
}

func notWord(n *node, path, field string) error {
	return fail(n.get(field).at, join(path, field), "found %s, want letters, digits and dashes, 64 at most", n.get(field).found())
}

func checkAlphas(alphas []float64, n *node) error {
	for i := 1; i < len(alphas); i++ {
		if alphas[i] <= alphas[i-1] {
			return fail(n.items[i].at, join("alphas", strconv.Itoa(i)), "found %v after %v, want increasing numbers", alphas[i], alphas[i-1])
		}
	}
	return nil
}

func checkFigure(f *Figure, n *node, names []string) error {
	if f == nil {
		return nil
	}
	if r := f.Range; len(r) > 0 && (len(r) != 2 || r[0] >= r[1]) {
		return fail(n.get("range").at, "figure.range", "found %v, want a lower and an upper end", r)
	}
	for i, m := range f.Metrics {
		if names != nil && !slices.Contains(names, m) {
			return fail(n.get("metrics").items[i].at, join("figure.metrics", strconv.Itoa(i)), "found %q, %s", clip(m), OneOf(m, names))
		}
	}
	return nil
}

func checkUntil(e *Experiment, n *node, names []string) error {
	u := e.Until
	if u == nil {
		return nil
	}
	if names != nil && !slices.Contains(names, u.Metric) {
		return fail(n.get("metric").at, "until.metric", "found %q, %s", clip(u.Metric), OneOf(u.Metric, names))
	}
	if u.Min > e.Replications {
		return fail(n.at, "until.min", "found %d, want at most %d replications", u.Min, e.Replications)
	}
	return nil
}

func (c *Configuration) check(n *node, path string, known Known) error {
	if err := c.Workload.check(n, join(path, "workload")); err != nil {
		return err
	}
	if err := c.Fleet.Availability.check(n, path, known); err != nil {
		return err
	}
	if m := c.Workload.Model; m != nil {
		if err := m.plain(known.Models); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		choice Choice
		names  []string
	}{
		{c.Market.Sharing, known.Sharing},
		{c.Market.Bidding, known.Bidding},
		{c.Market.Forecaster, known.Forecasters},
	} {
		if err := p.choice.plain(p.names); err != nil {
			return err
		}
	}
	if known.Payments != nil && !slices.Contains(known.Payments, c.Market.Payment) {
		at := n.get("market").get("payment").where(n)
		return fail(at, join(path, "market.payment"), "found %q, %s", clip(c.Market.Payment), OneOf(c.Market.Payment, known.Payments))
	}
	if c.Market.Reserve > 0 && c.Market.Payment != "scarce" {
		at := n.get("market").get("reserve").where(n)
		return fail(at, join(path, "market.reserve"), "found %v with payment %s, want 0, or payment scarce", c.Market.Reserve, c.Market.Payment)
	}
	return checkAdmission(c.Admission, known)
}

func checkAdmission(policies []Choice, known Known) error {
	seen := map[string]bool{}
	for _, p := range policies {
		if err := p.among(known.Admission); err != nil {
			return err
		}
		if p.Sharing != nil {
			if err := p.Sharing.plain(known.Sharing); err != nil {
				return err
			}
		}
		if !word.MatchString(p.Label) {
			return fail(p.at, join(p.path, "label"), "found %q, want letters, digits and dashes, 64 at most", clip(p.Label))
		}
		if seen[p.Label] {
			return fail(p.at, p.path, "found %s twice, want unique labels (label: …)", p.Label)
		}
		seen[p.Label] = true
	}
	return nil
}

// plain checks a plug-in that is not an admission policy.
func (c Choice) plain(names []string) error {
	if c.Sharing != nil {
		return fail(c.at, join(c.path, "sharing"), "unknown field, want it with an admission policy only")
	}
	if c.Negotiate != "" {
		return fail(c.at, join(c.path, "negotiate"), "unknown field, want it with an admission policy only")
	}
	return c.among(names)
}

// among checks the name of a plug-in.
func (c Choice) among(names []string) error {
	if names == nil || slices.Contains(names, c.Name) {
		return nil
	}
	return fail(c.at, c.path, "found %q, %s", clip(c.Name), OneOf(c.Name, names))
}

// check requires exactly one source of work.
func (w *Workload) check(n *node, path string) error {
	var said []string
	if w.Model != nil {
		said = append(said, "model")
	}
	if w.Plan != "" {
		said = append(said, "plan")
	}
	if w.SWF != "" {
		said = append(said, "swf")
	}
	at := n.get("workload").where(n)
	if w.Estimate != nil {
		if err := w.Estimate.plain(nil); err != nil {
			return err
		}
		if len(said) == 1 && w.Model == nil {
			return fail(w.Estimate.at, join(path, "estimate"), "found %s without a model, want it only with a model", clip(w.Estimate.Name))
		}
	}
	if len(said) == 1 && w.Filter != "" && w.Plan != "" {
		return fail(at, join(path, "filter"), "found %q with a plan, want it only with swf, or with a model that a log can replace", clip(w.Filter))
	}
	if len(said) == 1 {
		return nil
	}
	if len(said) == 0 {
		return fail(at, path, "found none of model, plan and swf, want one")
	}
	return fail(at, path, "found %s, want one; null removes a setting of a base or preset (%s: null)", strings.Join(said, " and "), said[0])
}

// where returns the place of n, or that of the enclosing node if n is nil.
func (n *node) where(in *node) place {
	if n == nil {
		return in.at
	}
	return n.at
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
