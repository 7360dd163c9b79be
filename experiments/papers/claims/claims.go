// Package claims judges what a paper says against results: each claim is a line
// of a file, with the numbers that decide it and where they must lie.
//
// It knows names of experiments, configurations, policies and metrics as text,
// and does not know what any of them means.
//
// # Design
//
// A test estimates a number over replications, on which policies share their jobs, and
// names a region and a margin: the smallest difference that matters, with where it comes
// from. They are written from the paper's sentence, not from results. A claim is
//
//	SUPPORTED     if the intervals of all its tests lie inside their regions,
//	CONTRADICTED  if that of one of them lies wholly outside,
//	UNDECIDED     otherwise, with the replications that would decide it,
//	NOT TESTABLE  if there is nothing to decide it by.
//
// One sentence of the paper is one claim. If it is tested on several panels (a metric in a
// configuration of an experiment, for instance on several models of hosts), its verdict covers
// all of them, and the claim states how many of them support it.
//
// Intervals hold together for all claims of a paper (Bonferroni): 1 - 0.05/m with m claims
// that are tested, and for "wholly outside" 1 - 0.05/(m k) with k tests, of which any
// would do; all k inside need no such correction (Berger 1982). Claims read after results
// were seen (post hoc) are judged at the same level beside them, and do not count in m.
// Holm's correction would decide a little more, but has no intervals that a reader could
// hold against the regions.
//
// A direction is held against 0, not against the margin: else a difference smaller than it
// would be supported by few replications and contradicted by many. Where its interval lies
// within the margin, and on both sides of 0, the claim stays undecided, and the test says
// that no difference that matters is left.
//
// Every verdict is given for half the margin, too: what rests on the margin is seen.
package claims

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"bourse/workloadgen/config"
)

// A Paper is what is claimed in one paper.
type Paper struct {
	Name   string  `yaml:"name"`  // of its folder
	Title  string  `yaml:"title"` // authors and title
	Claims []Claim `yaml:"claims"`

	SHA256 string            `yaml:"-"` // of the file
	Hashes map[string]string `yaml:"-"` // of each claim but its otherwise, by ID: the beginning of a sha256
}

// A Claim is a sentence of a paper, and what it is taken to say.
type Claim struct {
	ID      string `yaml:"id"`
	Quote   string `yaml:"quote"`
	Section string `yaml:"section"`
	Note    string `yaml:"note"` // how it is read, where it could be read otherwise
	Tests   []Test `yaml:"tests"`

	// Margin and Source stand for those of each test that has none.
	Margin *float64 `yaml:"margin"`
	Source string   `yaml:"source"`

	// PostHoc says why a reading was added after results had been seen.
	PostHoc string `yaml:"post_hoc"`

	// Otherwise says what comes of it with an option that is not the preset's, or
	// where it fails. Nothing is judged by it.
	Otherwise string `yaml:"otherwise"`

	// Untestable says why no results can decide it, in place of tests.
	Untestable string `yaml:"untestable"`
}

// A Test is a number and where it must lie. Where metric, of or in name several, each
// is a test.
type Test struct {
	Number `yaml:",inline"`

	// Over is a number that is subtracted. What it does not say is as in Number.
	Over *Number `yaml:"over"`

	Is relation `yaml:"is"`
	To Range    `yaml:"to"` // what it is held against: a number, or the lowest and highest; 0 if it is left out

	Margin *float64 `yaml:"margin"` // the smallest difference that matters, above 0
	Source string   `yaml:"source"` // of the margin: the paper's digits or errors, or an effect that the sentence names

	// NoChance says why the number is the same whatever is drawn. As long as it is in
	// all replications, it has no interval, and is held against the region as it is.
	NoChance string `yaml:"no_chance"`
}

// A Number is the mean of a metric over points of a sweep, and over replications.
type Number struct {
	Metric config.Some[string] `yaml:"metric"`
	Since  string              `yaml:"since"` // metric that is subtracted from it
	Of     config.Some[string] `yaml:"of"`    // policy

	Less string `yaml:"less"` // policy whose value is subtracted at each point
	Per  string `yaml:"per"`  // or whose mean divides that of the first, less 1

	In config.Some[string] `yaml:"in"` // experiment/configuration
	At map[string]Range    `yaml:"at"` // of each axis; all, where an axis is not named

	// Along makes it how much the metric rises along this axis, from its first value to
	// its last, by the straight line of least squares; Spread the largest of the means
	// there less the smallest. Other axes are averaged over.
	Along  string `yaml:"along"`
	Spread string `yaml:"spread"`

	// Deviation makes it the logarithm of the standard deviation over replications,
	// Effect the mean by the standard deviation.
	Deviation bool `yaml:"deviation"`
	Effect    bool `yaml:"effect"`

	// Reserve makes it what p_a exceeds, in place of a metric: see reserve.
	Reserve *reserve `yaml:"reserve"`
}

// A reserve is a rule by which a reservation market is worth more than a spot market
// (Market, eq. 13 and 18): what metric Admitted of policy Of exceeds (p - q)/(1 - q) by,
// where p is the mean of metrics Fulfilled of policy Spot, and q is metric Cost of it.
type reserve struct {
	Admitted  string              `yaml:"admitted"`
	Spot      string              `yaml:"spot"`
	Fulfilled config.Some[string] `yaml:"fulfilled"`
	Cost      string              `yaml:"cost"`
}

// A Range is one value, or the lowest and highest.
type Range []float64

// FromNode takes a bare number too.
func (r *Range) FromNode(n *config.Node, path string) error {
	return (*config.Some[float64])(r).FromNode(n, path)
}

func (r Range) has(x float64) bool { return len(r) == 0 || r[0] <= x && x <= r[len(r)-1] }

func (r Range) valid() bool {
	return len(r) == 1 || len(r) == 2 && r[0] <= r[1]
}

// Read reads a file of claims. The error names the claim at fault.
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
		for j := range c.Tests {
			c.Tests[j].Margin = first(c.Tests[j].Margin, c.Margin)
			if c.Tests[j].Source == "" {
				c.Tests[j].Source = c.Source
			}
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

func first(one, other *float64) *float64 {
	if one != nil {
		return one
	}
	return other
}

// hashes returns a hash of what each claim says, however it is laid out, by its ID.
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
	if (c.Untestable == "") == (len(c.Tests) == 0) {
		return fmt.Errorf("want tests, or else untestable: why there are none")
	}
	for _, t := range c.Tests {
		if err := t.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (t Test) validate() error {
	switch {
	case len(t.Metric) == 0 && t.Reserve == nil || len(t.Of) == 0 || len(t.In) == 0:
		return fmt.Errorf("want metric, of and in")
	case !slices.Contains(relations, t.Is):
		return fmt.Errorf("is: found %q, want one of %s", t.Is, words(relations))
	case len(t.To) > 0 && !t.To.valid() || len(t.To) > 1 && t.Is != similar:
		return fmt.Errorf("to: want a number, or the lowest and highest with similar")
	case t.Margin == nil || !(*t.Margin > 0) || t.Source == "":
		return fmt.Errorf("want a margin above 0, and its source")
	case t.Over != nil && (len(t.Over.Metric) > 1 || len(t.Over.Of) > 1 || len(t.Over.In) > 1):
		return fmt.Errorf("over: want one metric, of and in")
	case t.Deviation && t.Over == nil:
		return fmt.Errorf("deviation: want over, the quantity to compare it with")
	}
	for _, n := range []*Number{&t.Number, t.Over} {
		if n == nil {
			continue
		}
		for axis, r := range n.At {
			if !r.valid() {
				return fmt.Errorf("at %s: want a value, or the lowest and highest", axis)
			}
		}
		if n.Less != "" && n.Per != "" || n.Along != "" && n.Spread != "" {
			return fmt.Errorf("want one of less and per, of along and spread")
		}
		if n.Per != "" && (n.Deviation || n.Effect) || n.Deviation && n.Effect {
			return fmt.Errorf("want one of per, deviation and effect")
		}
		if r := n.Reserve; r != nil && (len(n.Metric) > 0 || r.Admitted == "" || r.Spot == "" || len(r.Fulfilled) == 0 || r.Cost == "") {
			return fmt.Errorf("reserve: want admitted, spot, fulfilled and cost, without a metric")
		}
	}
	return nil
}

// Concerns reports whether a claim of p is about the named experiment.
func (p Paper) Concerns(experiment string) bool {
	for _, c := range p.Claims {
		if slices.Contains(c.Experiments(), experiment) {
			return true
		}
	}
	return false
}

// Experiments returns the names of those that c is about, sorted.
func (c Claim) Experiments() (names []string) {
	for _, t := range c.Tests {
		all := t.In
		if t.Over != nil {
			all = slices.Concat(t.In, t.Over.In)
		}
		for _, in := range all {
			name, _, _ := strings.Cut(in, "/")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Metrics returns the names of the metrics that claims of p are about, sorted.
func (p Paper) Metrics() (names []string) {
	for _, c := range p.Claims {
		for _, t := range c.Tests {
			for _, n := range []*Number{&t.Number, t.Over} {
				if n != nil {
					names = append(names, n.metrics()...)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// metrics returns the names of those that n is made of.
func (n Number) metrics() []string {
	names := slices.Clone(n.Metric)
	if n.Since != "" {
		names = append(names, n.Since)
	}
	if r := n.Reserve; r != nil {
		names = append(append(names, r.Admitted, r.Cost), r.Fulfilled...)
	}
	return names
}
