package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bourse/workloadgen/config"
)

// defaultMin is the default minimum number of replications with a stopping rule.
const defaultMin = 5

// defaultMax is the default maximum number.
const defaultMax = 2000

// untilOf converts replications written as a mapping of min, max and until to two fields, and
// adds the defaults of until.
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

// count returns a node for n.
func count(n int, at place) *node { return &node{kind: scalar, text: strconv.Itoa(n), at: at} }

// found describes n.
func found(n *node) string {
	if n == nil {
		return "nothing"
	}
	return n.found()
}

// UntilSet returns the override for METRIC=HALF-WIDTH.
func UntilSet(text string) (string, error) {
	metric, width, ok := strings.Cut(text, "=")
	if !ok || metric == "" || width == "" {
		return "", fmt.Errorf("found %s, want METRIC=HALF-WIDTH, such as efficiency_0.5=0.01", config.Clip(text))
	}
	return fmt.Sprintf("until={metric: %q, half_width: %s}", metric, width), nil
}
