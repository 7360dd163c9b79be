package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bourse/workloadgen/plugin"
)

// defaultMin is how many replications there are at least where a file says when to stop.
const defaultMin = 5

// defaultMax is how many there are at most.
const defaultMax = 2000

// untilOf writes replications that are a mapping of min, max and until as two fields, and
// what is left out of until.
func untilOf(root *node) (*node, error) {
	n := root.get("replications")
	if n == nil || n.kind != mapping {
		until := root.get("until")
		if until == nil || until.kind != mapping {
			return root, nil
		}
		if n == nil {
			root = root.put("replications", count(defaultMax, until.at))
		}
		if until.get("min") == nil {
			root = root.put("until", until.put("min", count(defaultMin, until.at)))
		}
		return root, nil
	}
	for _, k := range n.keys {
		if known := []string{"min", "max", "until"}; !slices.Contains(known, k.name) {
			return nil, fail(k.at, join("replications", clip(k.name)), "unknown field, %s", OneOf(k.name, known))
		}
	}
	until := n.get("until")
	if until == nil || until.kind != mapping {
		return nil, fail(n.at, "replications.until", "found %s, want a mapping of metric and half_width, or a number of replications", found(until))
	}
	most := n.get("max")
	if most == nil {
		most = count(defaultMax, n.at)
	}
	least := n.get("min")
	if least == nil {
		least = count(defaultMin, n.at)
	}
	return root.put("replications", most).put("until", until.put("min", least)), nil
}

// count returns what a file says for n.
func count(n int, at place) *node { return &node{kind: scalar, text: strconv.Itoa(n), at: at} }

// found says what n is.
func found(n *node) string {
	if n == nil {
		return "nothing"
	}
	return n.found()
}

// UntilSet returns the setting that METRIC=HALF-WIDTH stands for.
func UntilSet(text string) (string, error) {
	metric, width, ok := strings.Cut(text, "=")
	if !ok || metric == "" || width == "" {
		return "", fmt.Errorf("found %s, want METRIC=HALF-WIDTH, such as efficiency_0.5=0.01", plugin.Clip(text))
	}
	return fmt.Sprintf("until={metric: %q, half_width: %s}", metric, width), nil
}
