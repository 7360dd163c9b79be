package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
)

// defaultMin is the default minimum number of replications with a stopping rule.
const defaultMin = 5

// defaultMax is the default maximum number of replications with a stopping rule.
const defaultMax = 2000

// untilOf handles the case that replications is a mapping of min, max and until. It converts
// the mapping to two fields and adds the default values of until.
func untilOf(root *config.Node) (*config.Node, error) {
	n := root.Get("replications")
	if n == nil || n.Kind != config.Mapping {
		until := root.Get("until")
		if until == nil || until.Kind != config.Mapping {
			return root, nil
		}
		if n == nil {
			root = root.Put("replications", number(defaultMax, until.At))
		}
		if until.Get("min") == nil {
			root = root.Put("until", until.Put("min", number(defaultMin, until.At)))
		}
		return root, nil
	}
	for _, k := range n.Keys {
		if known := []string{"min", "max", "until"}; !slices.Contains(known, k.Name) {
			return nil, k.At.Fail(config.Join("replications", plugin.Clip(k.Name)), "unknown field, %s", plugin.OneOf(k.Name, known))
		}
	}
	until := n.Get("until")
	if until == nil || until.Kind != config.Mapping {
		return nil, n.At.Fail("replications.until", "found %s, want a mapping of metric and half_width, or a number of replications", found(until))
	}
	most := n.Get("max")
	if most == nil {
		most = number(defaultMax, n.At)
	}
	least := n.Get("min")
	if least == nil {
		least = number(defaultMin, n.At)
	}
	return root.Put("replications", most).Put("until", until.Put("min", least)), nil
}

// number returns a node with the number n.
func number(n int, at config.Place) *config.Node {
	return &config.Node{Kind: config.Scalar, Text: strconv.Itoa(n), At: at}
}

// found describes n.
func found(n *config.Node) string {
	if n == nil {
		return "nothing"
	}
	return n.Found()
}

// UntilSet converts METRIC=HALF-WIDTH to an override.
func UntilSet(text string) (string, error) {
	metric, width, ok := strings.Cut(text, "=")
	if !ok || metric == "" || width == "" {
		return "", fmt.Errorf("found %s, want METRIC=HALF-WIDTH, such as efficiency_0.5=0.01", plugin.Clip(text))
	}
	return fmt.Sprintf("until={metric: %q, half_width: %s}", metric, width), nil
}
