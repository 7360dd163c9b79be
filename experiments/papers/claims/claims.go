// Package claims judges what a paper says against results: each claim is a line
// of a file, with the numbers that decide it and where they must lie.
//
// It knows names of experiments, configurations, policies and metrics as text,
// and does not know what any of them means.
//
// # Design
//
// A number is computed in every replication, on which policies share their
// jobs; a claim holds if the mean over replications lies where it must. The p
// value is Student's, of the hypothesis that it does not; that of a claim with
// several tests is the largest of theirs. They are corrected by Holm over the
// claims of a paper. The verdict does not depend on p: with few replications a
// true claim may have a large one, and the reader sees both.
package claims

import (
	"fmt"
	"strings"

	"bourse/workloadgen/plainyaml"
)

// A Paper is what is claimed in one paper.
type Paper struct {
	Name   string  `yaml:"name"`  // of its folder
	Title  string  `yaml:"title"` // authors and title
	Claims []Claim `yaml:"claims"`
}

// A Claim is a sentence of a paper, and what it is taken to say.
type Claim struct {
	ID      string `yaml:"id"`
	Quote   string `yaml:"quote"`
	Section string `yaml:"section"`
	Note    string `yaml:"note"` // how it is read, where it could be read otherwise
	On      string `yaml:"on"`   // what it is judged on, where that is several; the end of ID, after a dash
	Tests   []Test `yaml:"tests"`

	// Otherwise says what comes of it with an option that is not the preset's, or
	// where it fails. Nothing is judged by it.
	Otherwise string `yaml:"otherwise"`

	// Untestable says why no results can decide it, in place of tests.
	Untestable string `yaml:"untestable"`
}

// A Test is a number and where its mean must lie. Where metric, of or in name
// several, each is a test.
type Test struct {
	Number `yaml:",inline"`

	// Over is a number that is subtracted. What it does not say is as in Number.
	Over *Number `yaml:"over"`

	Above  *float64 `yaml:"above"`  // more than
	Below  *float64 `yaml:"below"`  // less than
	Within *float64 `yaml:"within"` // not farther from 0
}

// A Number is the mean of a metric over points of a sweep.
type Number struct {
	Metric Some[string] `yaml:"metric"`
	Since  string       `yaml:"since"` // metric that is subtracted from it
	Of     Some[string] `yaml:"of"`    // policy

	Less string `yaml:"less"` // policy whose value is subtracted at each point
	Per  string `yaml:"per"`  // or that divides it, less 1

	In Some[string]     `yaml:"in"` // experiment/configuration
	At map[string]Range `yaml:"at"` // of each axis; all, where an axis is not named

	// Along makes it Pearson's correlation with the values of this axis, 0 where
	// nothing varies; Spread the largest less the smallest. Other axes are
	// averaged over.
	Along  string `yaml:"along"`
	Spread string `yaml:"spread"`
}

// A Range is one value, or the lowest and highest.
type Range []float64

// UnmarshalYAML takes a bare number too.
func (r *Range) UnmarshalYAML(unmarshal func(any) error) error {
	var x float64
	if unmarshal(&x) == nil {
		*r = Range{x}
		return nil
	}
	return unmarshal((*[]float64)(r))
}

func (r Range) has(x float64) bool { return len(r) == 0 || r[0] <= x && x <= r[len(r)-1] }

// Some is one value or a list.
type Some[E any] []E

// UnmarshalYAML takes both.
func (s *Some[E]) UnmarshalYAML(unmarshal func(any) error) error {
	var one E
	if unmarshal(&one) == nil {
		*s = Some[E]{one}
		return nil
	}
	return unmarshal((*[]E)(s))
}

// Read reads a file of claims. The error names the claim at fault.
func Read(name string, data []byte) (Paper, error) {
	var p Paper
	if err := plainyaml.Unmarshal(data, &p); err != nil {
		return Paper{}, fmt.Errorf("%s: %w", name, err)
	}
	seen := map[string]bool{}
	for _, c := range p.Claims {
		if err := c.validate(); err != nil {
			return Paper{}, fmt.Errorf("%s: claim %s: %w", name, c.ID, err)
		}
		if seen[c.ID] {
			return Paper{}, fmt.Errorf("%s: claim %s: found twice", name, c.ID)
		}
		seen[c.ID] = true
	}
	return p, nil
}

func (c Claim) validate() error {
	if c.ID == "" || c.Quote == "" || c.Section == "" {
		return fmt.Errorf("want id, quote and section")
	}
	if c.On != "" && !strings.HasSuffix(c.ID, "-"+c.On) {
		return fmt.Errorf("want an id that ends in -%s, what it is judged on", c.On)
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
	bounds := 0
	for _, b := range []*float64{t.Above, t.Below, t.Within} {
		if b != nil {
			bounds++
		}
	}
	switch {
	case len(t.Metric) == 0 || len(t.Of) == 0 || len(t.In) == 0:
		return fmt.Errorf("want metric, of and in")
	case bounds != 1:
		return fmt.Errorf("want one of above, below and within")
	case t.Over != nil && (len(t.Over.Metric) > 1 || len(t.Over.Of) > 1 || len(t.Over.In) > 1):
		return fmt.Errorf("over: want one metric, of and in")
	}
	for _, n := range []*Number{&t.Number, t.Over} {
		if n == nil {
			continue
		}
		for axis, r := range n.At {
			if len(r) < 1 || len(r) > 2 || r[0] > r[len(r)-1] {
				return fmt.Errorf("at %s: want a value, or the lowest and highest", axis)
			}
		}
		if n.Less != "" && n.Per != "" || n.Along != "" && n.Spread != "" {
			return fmt.Errorf("want one of less and per, of along and spread")
		}
	}
	return nil
}

// Concerns reports whether a claim of p is about the named experiment.
func (p Paper) Concerns(experiment string) bool {
	for _, c := range p.Claims {
		for _, t := range c.Tests {
			for _, in := range t.In {
				if name, _, _ := strings.Cut(in, "/"); name == experiment {
					return true
				}
			}
		}
	}
	return false
}
