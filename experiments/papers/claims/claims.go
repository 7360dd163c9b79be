// Package claims tests sentences of a paper against results. Each claim is a sentence with a
// table. The table lists the numbers that decide the claim, and the region in which each
// number must lie ([Row]).
//
// The package is independent of the meaning of experiments, configurations, policies and
// metrics.
//
// # Design
//
// A row estimates a number over replications. In each replication, all policies run the same
// jobs. A row names a region and a margin. The margin is the smallest difference that matters,
// and the row states its source. Rows are derived from the paper's sentence, not from results.
// A claim is
//
//	SUPPORTED     if the intervals of all its rows lie inside their regions,
//	CONTRADICTED  if that of one of them lies wholly outside,
//	UNDECIDED     otherwise, with the replications that would decide it,
//	NOT TESTABLE  if there is nothing to decide it by.
//
// Each sentence of the paper is one claim. A claim may be tested on several panels. A panel
// is a metric in a configuration of an experiment, for example with one of several host
// models. The verdict covers all panels, and the claim states how many of them support it.
//
// Intervals are simultaneous for all claims of a paper (Bonferroni). Their level is 1 - 0.05/m
// if m claims are tested. For "wholly outside", the level is 1 - 0.05/(m k) with k rows,
// because one row outside is sufficient. For "all k inside", no such correction is needed
// (Berger 1982). Claims that were added after results had been seen (post hoc) are tested at
// the same level and are not counted in m. Holm's correction would decide slightly more
// claims, but it has no intervals that readers could compare with the regions.
//
// For a direction, a number is compared with 0, not with the margin. If it were compared with
// the margin, more replications could contradict a small difference that fewer replications
// supported. If the interval of a direction lies within the margin and contains 0, the claim
// stays undecided. The row then states that there is no difference that matters.
//
// Every verdict is also given for half the margin, which shows how it depends on the
// margin.
package claims

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"bourse/workloadgen/config"
)

// A Paper contains the claims of one paper.
type Paper struct {
	Name   string  `yaml:"name"`  // name of the paper's folder
	Title  string  `yaml:"title"` // authors and title
	Found  string  `yaml:"found"` // result of the published runs in one line
	Claims []Claim `yaml:"claims"`

	SHA256 string            `yaml:"-"` // hash of the file
	Hashes map[string]string `yaml:"-"` // beginning of the SHA-256 hash of each claim, by ID; the hash excludes the field otherwise
}

// A Claim is a sentence of a paper with the rows that decide it.
type Claim struct {
	ID      string `yaml:"id"`
	Quote   string `yaml:"quote"`
	Section string `yaml:"section"`
	Note    string `yaml:"note"` // interpretation that was chosen, if there are several
	Rows    []Row  `yaml:"rows"`

	// Margin and Source apply to each row that does not state its own.
	Margin float64 `yaml:"margin"`
	Source string  `yaml:"source"`

	// NoChance states why the numbers do not depend on random draws. A number that is the same
	// in all replications then has no interval. It is compared with its region directly.
	NoChance string `yaml:"no_chance"`

	// PostHoc states why the claim was added after results had been seen.
	PostHoc string `yaml:"post_hoc"`

	// Otherwise states the result under another option, or the conditions under which the
	// claim is false. It has no effect on verdicts.
	Otherwise string `yaml:"otherwise"`

	// Untestable states why results cannot decide the claim. It replaces rows.
	Untestable string `yaml:"untestable"`
}

// A Row is a number and the region in which it must lie: [metric, policy, place, relation,
// number, margin, source]. The margin and the source can be omitted. If the metric, policy
// or place is a list, each of its elements is a separate row.
//
//	metric   m; m + n, m - n; log sd of m; effect of m (mean by standard deviation);
//	         p_a over p, q (p_a minus (p - q)/(1 - q), of two policies A / B)
//	policy   A; A - B; A / B (mean of A by that of B, minus 1); A | B (of places P | Q)
//	place    P; P - Q, where P is EXPERIMENT/CONFIGURATION [& CONFIGURATION]
//	         [@ AXIS VALUE, AXIS LOWEST..HIGHEST] [along AXIS | spread AXIS]
//
// The number is the mean over replications and over all points of the place. If the place is
// along an axis, the number is the rise of the least-squares line from the axis's first value
// to its last. If the place is a spread, the number is the largest mean along the axis, or
// over configurations (*), minus the smallest.
type Row struct {
	Metric, Policy, Place config.Some[string]

	Is     relation
	To     Range   // number, or lowest and highest value of a range
	Margin float64 // smallest difference that matters, positive
	Source string  // source of the margin: the paper's digits or errors, or an effect named in the sentence
}

// FromNode reads the cells of a row from a list.
func (r *Row) FromNode(n *config.Node, path string) error {
	var is string
	cells := []any{&r.Metric, &r.Policy, &r.Place, &is, &r.To, &r.Margin, &r.Source}
	if n.Kind != config.List || len(n.Items) < 5 || len(n.Items) > len(cells) {
		return n.At.Fail(path, "found %s, want [metric, policy, place, relation, number, margin, source]", n.Found())
	}
	for i, cell := range n.Items {
		if err := cell.Decode(config.Join(path, n.Segment(i)), cells[i]); err != nil {
			return err
		}
	}
	r.Is = relation(is)
	return nil
}

// each returns a row for each combination of metric, policy and place.
func (r Row) each() (all []Row) {
	for _, m := range r.Metric {
		for _, p := range r.Policy {
			for _, at := range r.Place {
				one := r
				one.Metric, one.Policy, one.Place = config.Some[string]{m}, config.Some[string]{p}, config.Some[string]{at}
				all = append(all, one)
			}
		}
	}
	return all
}

// A Range is one value, or the lowest and the highest value.
type Range []float64

// FromNode reads a list or a single number.
func (r *Range) FromNode(n *config.Node, path string) error {
	return (*config.Some[float64])(r).FromNode(n, path)
}

func (r Range) has(x float64) bool { return r[0] <= x && x <= r[len(r)-1] }

// Read reads a file of claims. An error names the invalid claim.
func Read(name string, data []byte) (Paper, error) {
	var p Paper
	root, err := config.Parse(name, data)
	if err == nil {
		err = root.Fill("", &p)
	}
	if err != nil {
		return Paper{}, err
	}
	seen := map[string]bool{}
	for i := range p.Claims {
		c := &p.Claims[i]
		for j := range c.Rows {
			r := &c.Rows[j]
			r.Margin, r.Source = cmp.Or(r.Margin, c.Margin), cmp.Or(r.Source, c.Source)
		}
		if err := c.validate(); err != nil {
			return Paper{}, fmt.Errorf("%s: claim %s: %w", name, c.ID, err)
		}
		if seen[c.ID] {
			return Paper{}, fmt.Errorf("%s: claim %s: found twice", name, c.ID)
		}
		seen[c.ID] = true
	}
	p.SHA256 = hash(data)
	p.Hashes, err = hashes(root.Get("claims"))
	return p, err
}

// hashes returns a hash of the content of each claim, keyed by ID. The hash does not depend
// on the layout of the file.
func hashes(claims *config.Node) (map[string]string, error) {
	all := make(map[string]string)
	if claims == nil {
		return all, nil
	}
	for _, c := range claims.Items {
		var said map[string]any
		if err := c.Without("otherwise").Decode("", &said); err != nil {
			return nil, err
		}
		text, err := json.Marshal(said)
		if err != nil {
			return nil, err
		}
		all[fmt.Sprint(said["id"])] = hash(text)[:16]
	}
	return all, nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (c Claim) validate() error {
	if c.ID == "" || c.Quote == "" || c.Section == "" {
		return fmt.Errorf("want id, quote and section")
	}
	if (c.Untestable == "") == (len(c.Rows) == 0) {
		return fmt.Errorf("want rows, or untestable with a reason")
	}
	for _, r := range c.Rows {
		if err := r.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (r Row) validate() error {
	switch {
	case len(r.Metric) == 0 || len(r.Policy) == 0 || len(r.Place) == 0:
		return fmt.Errorf("want metric, policy and place")
	case !slices.Contains(relations, r.Is):
		return fmt.Errorf("relation: found %q, want one of %s", r.Is, words(relations))
	case len(r.To) < 1 || len(r.To) > 2 || len(r.To) == 2 && (r.To[0] > r.To[1] || r.Is != similar):
		return fmt.Errorf("number: want a number or, for the relation similar, the lowest and highest value")
	case !(r.Margin > 0) || r.Source == "":
		return fmt.Errorf("want a margin above 0, and its source")
	}
	for _, one := range r.each() {
		if _, err := one.measures(); err != nil {
			return err
		}
	}
	return nil
}

// measures returns the measures in all rows of c. The rows must have been read before.
func (c Claim) measures() (all []measure) {
	for _, r := range c.Rows {
		for _, one := range r.each() {
			some, _ := one.measures()
			all = append(all, some...)
		}
	}
	return all
}

// Concerns reports whether a claim of p is about the named experiment.
func (p Paper) Concerns(experiment string) bool {
	return slices.ContainsFunc(p.Claims, func(c Claim) bool { return slices.Contains(c.Experiments(), experiment) })
}

// Experiments returns the sorted names of the experiments that c is about.
func (c Claim) Experiments() (names []string) {
	for _, m := range c.measures() {
		names = append(names, m.experiment)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Metrics returns the sorted names of the metrics used by claims of p.
func (p Paper) Metrics() (names []string) {
	for _, c := range p.Claims {
		for _, m := range c.measures() {
			names = append(names, m.names()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
