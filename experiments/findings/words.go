package findings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A unit says how a metric is written.
type unit struct {
	name  string  // of the metric, in a sentence
	times float64 // what it is multiplied by
	form  string  // of a value
	apart string  // of a difference
}

var units = map[string]unit{
	"efficiency_0": {"utility", 100, "%s %% of U*", "%s %% of U*"},
	"efficiency_1": {"utility", 100, "%s %% of U*", "%s %% of U*"},
	"worth":        {"worth of all work", 100, "%s %% of U*", "%s %% of U*"},
	"violations":   {"broken promises", 100, "%s %%", "%s points"},
	"rejections":   {"refusals", 100, "%s %%", "%s points"},
	"revenue":      {"revenue", 1, "$%s", "$%s"},
	"gain":         {"true utility", 1, "$%s", "$%s"},
}

// loads are configurations as a sentence begins with them.
var loads = map[string]string{"low": "At low load", "high": "At high load", "twice": "At twice the high load"}

// three returns x with about three digits.
func three(x float64) string {
	decimals := 0
	switch size := math.Abs(x); {
	case size < 0.9995:
		decimals = 3
	case size < 9.995:
		decimals = 2
	case size < 99.95:
		decimals = 1
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return "0"
	}
	return text
}

// value writes a value of the metric.
func value(metric string, x float64) string {
	u := units[metric]
	return fmt.Sprintf(u.form, three(u.times*x))
}

// apart writes the difference of c without its sign, with its interval.
func (c *Comparison) apart() string {
	u := units[c.Metric]
	sign := u.times
	if c.Difference < 0 {
		sign = -sign
	}
	text := three(sign * c.Difference)
	if c.Lo != nil {
		lo, hi := sign**c.Lo, sign**c.Hi
		text += fmt.Sprintf(" [%s, %s]", three(min(lo, hi)), three(max(lo, hi)))
	}
	return fmt.Sprintf(u.apart, text)
}

// doubt says what would tell the two of c apart.
func (c *Comparison) doubt() string {
	text := "cannot be told apart"
	if c.need(); c.Lo != nil {
		u := units[c.Metric]
		text += fmt.Sprintf(" (difference %s [%s, %s]", fmt.Sprintf(u.apart, three(u.times*c.Difference)), three(u.times**c.Lo), three(u.times**c.Hi))
		if c.Needed != nil {
			text += fmt.Sprintf("; %d replications would tell", *c.Needed)
		}
		text += ")"
	}
	return text
}

// list joins words.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
