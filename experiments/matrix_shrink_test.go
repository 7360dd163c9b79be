package experiments

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// clone returns a copy of g that shares no data that shrinking changes.
func (g *drawing) clone() *drawing {
	c := *g
	c.root, c.plan, c.trace = g.root.clone(), slices.Clone(g.plan), slices.Clone(g.trace)
	return &c
}

// digits matches the parts of an error message that do not distinguish kinds of failures.
var digits = regexp.MustCompile(`p[01], |[-+]?[0-9][-+.0-9e]*|"[^"]*"|host:h\d+`)

// kindOf returns the text of a failure without numbers, which identifies the kind of failure.
func kindOf(err error) string {
	var c *crash
	text := err.Error()
	if errors.As(err, &c) {
		text = c.Error()
		text, _, _ = strings.Cut(text, "\n")
	}
	return digits.ReplaceAllString(text, "#")
}

// shrink returns a smaller drawing that fails with the same kind of error as g. It removes
// jobs, lines of the trace, fields and hosts as long as the failure remains.
func (g *drawing) shrink(err error, dir string) (*drawing, error) {
	want, tries := kindOf(err), 600
	fails := func(c *drawing) bool {
		if tries--; tries < 0 {
			return false
		}
		e := c.try(dir, newCoverage())
		if e == nil || kindOf(e) != want {
			return false
		}
		g, err = c, e
		return true
	}
	for smaller := true; smaller && tries > 0; {
		smaller = false
		for i := len(g.plan) - 1; i >= 0; i-- {
			if i < len(g.plan) && len(g.plan) > 1 {
				c := g.clone()
				gone := c.plan[i].ID
				c.plan = slices.Delete(c.plan, i, i+1)
				for k := range c.plan {
					if c.plan[k].After == gone {
						c.plan[k].After, c.plan[k].Think = 0, 0
					}
				}
				smaller = fails(c) || smaller
			}
		}
		for i := len(g.trace) - 1; i >= 0; i-- {
			c := g.clone()
			c.trace = slices.Delete(c.trace, i, i+1)
			smaller = fails(c) || smaller
		}
		for _, path := range g.root.paths(nil) {
			if c := g.clone(); c.root.prune(path) {
				smaller = fails(c) || smaller
			}
		}
		for h := 1; h < 12; h++ {
			c := g.clone()
			b := c.root.get("base", "fleet", "hosts")
			if b == nil || b.text == strconv.Itoa(h) {
				break
			}
			b.text = strconv.Itoa(h)
			if fails(c) {
				smaller = true
				break
			}
		}
	}
	return g, err
}

// paths returns the paths of all branches in b that may be removed, deeper ones last.
func (b *branch) paths(at []int) (all [][]int) {
	for i, x := range b.in {
		here := append(slices.Clone(at), i)
		if !x.keep && x.name != "name" && x.name != "base" && x.name != "label" && x.name != "hosts" {
			all = append(all, here)
		}
	}
	for i, x := range b.in {
		all = append(all, x.paths(append(slices.Clone(at), i))...)
	}
	return all
}

// prune removes the branch at the path, if it exists and is not the only element of its
// list.
func (b *branch) prune(path []int) bool {
	for _, i := range path[:len(path)-1] {
		if i >= len(b.in) {
			return false
		}
		b = b.in[i]
	}
	i := path[len(path)-1]
	if i >= len(b.in) || len(b.in) == 1 || b.in[i].keep {
		return false
	}
	b.in = slices.Delete(b.in, i, i+1)
	return true
}
