package scenario

import (
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"

	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// check checks names and constraints that involve several fields.
func check(e *Experiment, root *config.Node, known Known) error {
	if name := root.Get("base").Get("name"); name != nil {
		return name.At.Fail("base.name", "found %s, want no name, because base is not a configuration", name.Found())
	}
	if !word.MatchString(e.Name) {
		return notWord(root, "", "name")
	}
	if err := checkAlphas(e.Alphas, root.Get("alphas")); err != nil {
		return err
	}
	if err := checkFigure(e.Figure, root.Get("figure"), known.Metrics); err != nil {
		return err
	}
	if err := checkUntil(e, root.Get("until"), known.Metrics); err != nil {
		return err
	}
	if err := e.Judge.check(root.Get("judge"), known.Metrics); err != nil {
		return err
	}
	if err := checkSweep(e.Sweep, len(e.Configurations), root.Get("sweep")); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range e.Configurations {
		c, n := &e.Configurations[i], root.Get("configurations").Items[i]
		path := config.Join("configurations", n.Segment(i))
		if !word.MatchString(c.Name) {
			return notWord(n, path, "name")
		}
		if seen[c.Name] {
			return n.Get("name").At.Fail(path, "found the same name twice, want unique names")
		}
		seen[c.Name] = true
		if err := c.check(n, path, known); err != nil {
			return err
		}
	}
	return checkLess(e, root.Get("figure").Get("less"))
}

// checkLess checks that the baseline policy named in the figure exists.
func checkLess(e *Experiment, n *config.Node) error {
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
	return n.At.Fail("figure.less", "found %q, %s", plugin.Clip(e.Figure.Less), plugin.OneOf(e.Figure.Less, labels))
}

func notWord(n *config.Node, path, field string) error {
	return n.Get(field).At.Fail(config.Join(path, field), "found %s, want at most 64 letters, digits and dashes", n.Get(field).Found())
}

func checkAlphas(alphas []float64, n *config.Node) error {
	for i := 1; i < len(alphas); i++ {
		if alphas[i] <= alphas[i-1] {
			return n.Items[i].At.Fail(config.Join("alphas", strconv.Itoa(i)), "found %v after %v, want increasing numbers", alphas[i], alphas[i-1])
		}
	}
	return nil
}

func checkFigure(f *Figure, n *config.Node, names []string) error {
	if f == nil {
		return nil
	}
	if r := f.Range; len(r) > 0 && (len(r) != 2 || r[0] >= r[1]) {
		return n.Get("range").At.Fail("figure.range", "found %v, want a lower and an upper end", r)
	}
	for i, m := range f.Metrics {
		if names != nil && !slices.Contains(names, m) {
			return n.Get("metrics").Items[i].At.Fail(config.Join("figure.metrics", strconv.Itoa(i)), "found %q, %s", plugin.Clip(m), plugin.OneOf(m, names))
		}
	}
	return nil
}

func checkUntil(e *Experiment, n *config.Node, names []string) error {
	u := e.Until
	if u == nil {
		return nil
	}
	if names != nil && !slices.Contains(names, u.Metric) {
		return n.Get("metric").At.Fail("until.metric", "found %q, %s", plugin.Clip(u.Metric), plugin.OneOf(u.Metric, names))
	}
	if u.Min > e.Replications {
		return n.At.Fail("until.min", "found %d, want at most %d replications", u.Min, e.Replications)
	}
	return nil
}

func (c *Configuration) check(n *config.Node, path string, known Known) error {
	if err := c.Workload.check(n, config.Join(path, "workload")); err != nil {
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
		at := place(n.Get("market").Get("payment"), n)
		return at.Fail(config.Join(path, "market.payment"), "found %q, %s", plugin.Clip(c.Market.Payment), plugin.OneOf(c.Market.Payment, known.Payments))
	}
	if c.Market.Reserve > 0 && c.Market.Payment != "scarce" {
		at := place(n.Get("market").Get("reserve"), n)
		return at.Fail(config.Join(path, "market.reserve"), "found %v with payment %s, want 0 or payment scarce", c.Market.Reserve, c.Market.Payment)
	}
	return checkAdmission(c.Admission, known)
}

// checkAdmission checks the policies of a configuration. If a policy without a label is
// already in the list with other options, it is labelled with its name and a number, starting
// at 2.
func checkAdmission(policies []Choice, known Known) error {
	seen := map[string]bool{}
	for i := range policies {
		p := &policies[i]
		if p.Label == p.Name && seen[p.Label] && !slices.ContainsFunc(policies[:i], p.same) {
			for n := 2; seen[p.Label]; n++ {
				p.Label = fmt.Sprintf("%s-%d", p.Name, n)
			}
		}
		if err := p.among(known.Admission); err != nil {
			return err
		}
		if p.Sharing != nil {
			if err := p.Sharing.plain(known.Sharing); err != nil {
				return err
			}
		}
		if !word.MatchString(p.Label) {
			return p.at.Fail(config.Join(p.path, "label"), "found %q, want at most 64 letters, digits and dashes", plugin.Clip(p.Label))
		}
		if seen[p.Label] {
			return p.at.Fail(p.path, "found %s twice, want unique labels (label: …)", p.Label)
		}
		seen[p.Label] = true
	}
	return nil
}

// same reports whether c and other differ at most in their labels.
func (c *Choice) same(other Choice) bool {
	return c.Name == other.Name && c.Negotiate == other.Negotiate && reflect.DeepEqual(c.Options(), other.Options()) &&
		(c.Sharing == nil) == (other.Sharing == nil) && (c.Sharing == nil || c.Sharing.same(*other.Sharing))
}

// plain checks the choice of a plug-in that is not an admission policy.
func (c Choice) plain(names []string) error {
	if c.Sharing != nil {
		return c.at.Fail(config.Join(c.path, "sharing"), "unknown field, want this field only with an admission policy")
	}
	if c.Negotiate != "" {
		return c.at.Fail(config.Join(c.path, "negotiate"), "unknown field, want this field only with an admission policy")
	}
	return c.among(names)
}

// among checks that the name of a plug-in is in the given list.
func (c Choice) among(names []string) error {
	if names == nil || slices.Contains(names, c.Name) {
		return nil
	}
	return c.at.Fail(c.path, "found %q, %s", plugin.Clip(c.Name), plugin.OneOf(c.Name, names))
}

// check returns an error unless the file specifies exactly one source of work.
func (w *Workload) check(n *config.Node, path string) error {
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
	at := place(n.Get("workload"), n)
	if w.Estimate != nil {
		if err := w.Estimate.plain(nil); err != nil {
			return err
		}
		if len(said) == 1 && w.Model == nil {
			return w.Estimate.at.Fail(config.Join(path, "estimate"), "found %s without a model, want this field only with a model", plugin.Clip(w.Estimate.Name))
		}
	}
	if len(said) == 1 && w.Filter != "" && w.Plan != "" {
		return at.Fail(config.Join(path, "filter"), "found %q with a plan, want a filter only with swf, or with a model that a log can replace", plugin.Clip(w.Filter))
	}
	if w.Memory != "" && w.Plan != "" {
		return at.Fail(config.Join(path, "memory"), "found %s with a plan, want this field only with swf, because a plan has a column memory", w.Memory)
	}
	if len(said) == 1 {
		return nil
	}
	if len(said) == 0 {
		return at.Fail(path, "found none of model, plan and swf, want one of them")
	}
	return at.Fail(path, "found %s, want only one of them; null removes a setting of a base or preset (%s: null)", strings.Join(said, " and "), said[0])
}

// place returns the position of n or, if n is nil, of the enclosing node.
func place(n, in *config.Node) config.Place {
	if n == nil {
		return in.At
	}
	return n.At
}

// word matches valid names and labels.
var word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
