package scenario

import (
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"

	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// Over parses the command-line form of an axis: a field of a configuration and its values,
// such as one of these:
//
//	admission.cac.guarantee=0.5..0.95/0.05
//	workload.annotate.delay=0.1,0.5,1
//	admission.sac.guarantee,admission.cac.guarantee=0.6,0.9
//
// If there are several fields, all of them take the values of the first. [Known.Over]
// describes how axes are used, and [Values] describes the format of values.
func Over(text string) (Axis, error) {
	paths, values, ok := strings.Cut(text, "=")
	path, also, several := strings.Cut(paths, ",")
	if !ok || path == "" || strings.Count(paths, ".") >= maxPath {
		return Axis{}, fmt.Errorf("found %s, want PATH=VALUES, such as admission.cac.guarantee=0.5..0.95/0.05", plugin.Clip(text))
	}
	all, err := Values(values)
	if err != nil {
		return Axis{}, fmt.Errorf("%s: %w", plugin.Clip(path), err)
	}
	axis := Axis{Path: path, Values: all}
	if several {
		axis.Also = strings.Split(also, ",")
	}
	return axis, nil
}

// Values parses a comma-separated list of numbers, words and ranges FROM..TO/STEP. A range
// starts at FROM and contains no value above TO. It is computed with exact decimals:
// 0.5..0.8/0.1 and 0.5..0.89/0.1 are both 0.5, 0.6, 0.7 and 0.8.
func Values(list string) ([]Value, error) {
	var all []Value
	seen := map[Value]bool{}
	for text := range strings.SplitSeq(list, ",") {
		some, err := span(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); len(all) > maxPoints {
			return nil, fmt.Errorf("found %d values or more, want at most %d", len(all), maxPoints)
		}
		for _, v := range some {
			if seen[v] {
				return nil, fmt.Errorf("found %s twice, want different values", v)
			}
			seen[v] = true
		}
	}
	return all, nil
}

// These are the patterns for ranges, and for their ends and steps.
const (
	digits = `[-+]?[0-9]{1,15}(\.[0-9]{1,15})?`
	ranges = `^` + digits + `\.\.` + digits + `/` + digits + `$`
)

var exact = regexp.MustCompile(`^` + digits + `$`)

// span returns the values of a range. If text is not a range, it returns text as the only
// value.
func span(text string) ([]Value, error) {
	lower, rest, ok := strings.Cut(text, "..")
	if !ok {
		if !value.MatchString(text) {
			return nil, fmt.Errorf("found %q, want a number, a word of at most 32 characters, or a range from..to/step", plugin.Clip(text))
		}
		return []Value{Value(text)}, nil
	}
	upper, step, ok := strings.Cut(rest, "/")
	if !ok {
		return nil, fmt.Errorf("found %s without a step, want from..to/step, such as 0.5..0.95/0.05", plugin.Clip(text))
	}
	var ends [3]decimal.Decimal
	for i, part := range []string{lower, upper, step} {
		if !exact.MatchString(part) {
			return nil, fmt.Errorf("found %q in %s, want a number such as 0.05", plugin.Clip(part), plugin.Clip(text))
		}
		d, err := decimal.NewFromString(part)
		if err != nil {
			return nil, fmt.Errorf("found %s: %w", plugin.Clip(text), err)
		}
		ends[i] = d
	}
	from, to, by := ends[0], ends[1], ends[2]
	if by.Sign() <= 0 || to.LessThan(from) {
		return nil, fmt.Errorf("found %s, want an increasing range with a step above 0", plugin.Clip(text))
	}
	if steps, _ := to.Sub(from).QuoRem(by, 0); steps.GreaterThanOrEqual(decimal.NewFromInt(maxPoints)) {
		return nil, fmt.Errorf("found %s, want a range of at most %d values", plugin.Clip(text), maxPoints)
	}
	var all []Value
	for x := from; x.LessThanOrEqual(to); x = x.Add(by) {
		all = append(all, Value(x.String()))
	}
	return all, nil
}

// spanned returns the tree with the ranges in the values of its sweep expanded.
func spanned(root *config.Node) (*config.Node, error) {
	sweep := root.Get("sweep")
	if sweep == nil || sweep.Kind != config.List {
		return root, nil
	}
	out := *sweep
	out.Items = nil
	for i, axis := range sweep.Items {
		values := axis.Get("values")
		if values == nil || values.Kind != config.Scalar && values.Kind != config.List {
			out.Items = append(out.Items, axis)
			continue
		}
		all, said := &config.Node{Kind: config.List, At: values.At}, values.Items
		if values.Kind == config.Scalar {
			said = []*config.Node{values}
		}
		for _, v := range said {
			if v.Kind != config.Scalar || values.Kind == config.List && !strings.Contains(v.Text, "..") {
				all.Items = append(all.Items, v)
				continue
			}
			some, err := Values(v.Text)
			if err != nil {
				return nil, v.At.Fail(fmt.Sprintf("sweep.%d.values", i), "%v", err)
			}
			all.Items = append(all.Items, plain(some, v.At)...)
		}
		out.Items = append(out.Items, axis.Put("values", all))
	}
	return root.Put("sweep", &out), nil
}

// plain returns values in the form used in files.
func plain(values []Value, at config.Place) (all []*config.Node) {
	for _, v := range values {
		all = append(all, &config.Node{Kind: config.Scalar, Text: string(v), At: at})
	}
	return all
}

// useOver adds axes to the sweep. If the sweep has an axis with the same path, the new axis
// replaces it.
func useOver(root *config.Node, axes []Axis) *config.Node {
	out := &config.Node{Kind: config.List, At: config.Place{Source: "--over"}}
	if sweep := root.Get("sweep"); sweep != nil && sweep.Kind != config.Null {
		*out = *sweep
	}
	if len(axes) == 0 || out.Kind != config.List {
		return root
	}
	for _, a := range axes {
		axis := moved(config.Of(a), config.Place{Source: "--over " + plugin.Clip(a.Path)})
		i := slices.IndexFunc(out.Items, func(n *config.Node) bool { return n.Get("path") != nil && n.Get("path").Text == a.Path })
		if i >= 0 {
			out.Items = slices.Clone(out.Items)
			out.Items[i] = axis
		} else {
			out.Items = append(slices.Clip(out.Items), axis)
		}
	}
	return root.Put("sweep", out)
}
