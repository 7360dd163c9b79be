package scenario

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// Over parses the command-line form of an axis, a field of a configuration and its values,
// such as one of these:
//
//	admission.cac.guarantee=0.5..0.95/0.05
//	workload.annotate.delay=0.1,0.5,1
//	admission.sac.guarantee,admission.cac.guarantee=0.6,0.9
//
// If there are several fields, the others are set to the same values as the first. See
// [Known.Over] for the use of axes, and [Values] for the values.
func Over(text string) (Axis, error) {
	paths, values, ok := strings.Cut(text, "=")
	path, also, several := strings.Cut(paths, ",")
	if !ok || path == "" || strings.Count(paths, ".") >= maxDepth {
		return Axis{}, fmt.Errorf("found %s, want path=values, such as admission.cac.guarantee=0.5..0.95/0.05", clip(text))
	}
	all, err := Values(values)
	if err != nil {
		return Axis{}, fmt.Errorf("%s: %w", clip(path), err)
	}
	axis := Axis{Path: path, Values: all}
	if several {
		axis.Also = strings.Split(also, ",")
	}
	return axis, nil
}

// Values parses a comma-separated list of numbers, words, and ranges FROM..TO/STEP. A range
// begins with FROM, contains no value above TO, and uses exact decimals: 0.5..0.8/0.1 is 0.5,
// 0.6, 0.7 and 0.8, and so is 0.5..0.89/0.1.
func Values(list string) ([]Value, error) {
	var all []Value
	seen := map[Value]bool{}
	for text := range strings.SplitSeq(list, ",") {
		some, err := span(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); len(all) > maxPoints {
			return nil, fmt.Errorf("found %d values and more, want at most %d", len(all), maxPoints)
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

// Patterns for ranges and for their ends and steps.
const (
	digits = `[-+]?[0-9]{1,15}(\.[0-9]{1,15})?`
	ranges = `^` + digits + `\.\.` + digits + `/` + digits + `$`
)

var exact = regexp.MustCompile(`^` + digits + `$`)

// span returns the values of a range, or text itself as the only value.
func span(text string) ([]Value, error) {
	lower, rest, ok := strings.Cut(text, "..")
	if !ok {
		if !value.MatchString(text) {
			return nil, fmt.Errorf("found %q, want a number or a word, 32 characters at most, or a range from..to/step", clip(text))
		}
		return []Value{Value(text)}, nil
	}
	upper, step, ok := strings.Cut(rest, "/")
	if !ok {
		return nil, fmt.Errorf("found %s without a step, want from..to/step, such as 0.5..0.95/0.05", clip(text))
	}
	var ends [3]decimal.Decimal
	for i, part := range []string{lower, upper, step} {
		if !exact.MatchString(part) {
			return nil, fmt.Errorf("found %q in %s, want a number such as 0.05", clip(part), clip(text))
		}
		d, err := decimal.NewFromString(part)
		if err != nil {
			return nil, fmt.Errorf("found %s: %w", clip(text), err)
		}
		ends[i] = d
	}
	from, to, by := ends[0], ends[1], ends[2]
	if by.Sign() <= 0 || to.LessThan(from) {
		return nil, fmt.Errorf("found %s, want an increasing range with a step above 0", clip(text))
	}
	if steps, _ := to.Sub(from).QuoRem(by, 0); steps.GreaterThanOrEqual(decimal.NewFromInt(maxPoints)) {
		return nil, fmt.Errorf("found %s, which is more than %d values", clip(text), maxPoints)
	}
	var all []Value
	for x := from; x.LessThanOrEqual(to); x = x.Add(by) {
		all = append(all, Value(x.String()))
	}
	return all, nil
}

// spanned returns the tree with ranges in the values of its sweep expanded.
func spanned(root *node) (*node, error) {
	sweep := root.get("sweep")
	if sweep == nil || sweep.kind != list {
		return root, nil
	}
	out := *sweep
	out.items = nil
	for i, axis := range sweep.items {
		values := axis.get("values")
		if values == nil || values.kind != scalar && values.kind != list {
			out.items = append(out.items, axis)
			continue
		}
		all, said := &node{kind: list, at: values.at}, values.items
		if values.kind == scalar {
			said = []*node{values}
		}
		for _, v := range said {
			if v.kind != scalar || values.kind == list && !strings.Contains(v.text, "..") {
				all.items = append(all.items, v)
				continue
			}
			some, err := Values(v.text)
			if err != nil {
				return nil, fail(v.at, fmt.Sprintf("sweep.%d.values", i), "%v", err)
			}
			all.items = append(all.items, plain(some, v.at)...)
		}
		out.items = append(out.items, axis.put("values", all))
	}
	return root.put("sweep", &out), nil
}

// plain returns values in the form that a file has.
func plain(values []Value, at place) (all []*node) {
	for _, v := range values {
		all = append(all, &node{kind: scalar, text: string(v), at: at})
	}
	return all
}

// useOver adds axes to the sweep. An axis replaces one with the same path.
func useOver(root *node, axes []Axis) *node {
	out := &node{kind: list, at: place{source: "--over"}}
	if sweep := root.get("sweep"); sweep != nil && sweep.kind != null {
		*out = *sweep
	}
	if len(axes) == 0 || out.kind != list {
		return root
	}
	for _, a := range axes {
		axis := encode(reflect.ValueOf(a)).moved(place{source: "--over " + clip(a.Path)})
		i := slices.IndexFunc(out.items, func(n *node) bool { return n.get("path") != nil && n.get("path").text == a.Path })
		if i >= 0 {
			out.items = slices.Clone(out.items)
			out.items[i] = axis
		} else {
			out.items = append(slices.Clip(out.items), axis)
		}
	}
	return root.put("sweep", out)
}
