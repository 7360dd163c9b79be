package market

import (
	"fmt"
	"math"
	"strings"
)

// Printed provides access to the paper's printed numbers.
type Printed interface {
	// Number returns the printed number for a case if it is a single number.
	Number(configuration, admission, metric string) (float64, bool)

	// Tested returns the t value in Table 2 for the difference first minus second in a
	// configuration. It also returns whether the value is marked as significant. If there
	// is no such value, ok is false.
	Tested(configuration, first, second, metric string) (t float64, significant, ok bool)

	// Critical returns the configurations of Table 2 and the table's critical value of t.
	Critical() (configurations []string, t float64)
}

// Against returns the contradictions between the paper's own numbers, one sentence for
// each.
func Against(p Printed) (said []string) {
	for _, one := range []func(Printed) (string, bool){halfway, utilized, insignificant} {
		if s, ok := one(p); ok {
			said = append(said, "Contradictions in the paper: "+s)
		}
	}
	return said
}

// halfway compares the efficiency of mixed users with the efficiencies of both kinds.
func halfway(p Printed) (string, bool) {
	elastic, ok0 := p.Number("pareto-high", "be", "efficiency_0")
	mixed, ok := p.Number("pareto-high", "be", "efficiency_0.5")
	inelastic, ok1 := p.Number("pareto-high", "be", "efficiency_1")
	half := (elastic + inelastic) / 2 // because eq. 9 is linear in alpha
	return fmt.Sprintf("by eq. 9, efficiency is linear in α. %s for inelastic users and %s for elastic users (§1) therefore imply %s for an equal mix, not %s (§1).",
		share(inelastic), share(elastic), short(half), share(mixed)), ok0 && ok && ok1 && math.Abs(half-mixed) > 0.005+1e-9 // the numbers differ by more than rounding errors
}

// utilized compares the number of significant differences in Table 2 with the number in the
// text.
func utilized(p Printed) (string, bool) {
	marked, tests := 0, 0
	configurations, _ := p.Critical()
	for _, c := range configurations {
		for _, pair := range [][2]string{{"be", "sac"}, {"be", "cac"}, {"sac", "cac"}} {
			if _, significant, ok := p.Tested(c, pair[0], pair[1], "utilization"); ok {
				if tests++; significant {
					marked++
				}
			}
		}
	}
	return fmt.Sprintf("Table 2 marks differences in utilization as significant in %d of %d tests. §4.3 sees no “clear evidence that the utilization is significantly effected” by the model, and concludes “without causing significant underutilization”.",
		marked, tests), marked > 0
}

// insignificant uses the errors implied by Table 2 to test whether more variable values
// cause more violations (§4.3). The paper does not print the violations of SAC.
func insignificant(p Printed) (string, bool) {
	equal, ok := p.Number("equal-high", "be", "violations")
	errorOf, _ := Error(p, "equal-high", "be", "violations")
	_, critical := p.Critical()
	means, errors, ts := []string{}, []string{}, []string{}
	for _, c := range []string{"pareto-high", "normal-high"} {
		x, there := p.Number(c, "be", "violations")
		e, known := Error(p, c, "be", "violations")
		t := (x - equal) / math.Hypot(e, errorOf)
		if ok = ok && there && known && t < critical; !ok {
			return "", false
		}
		means, errors, ts = append(means, share(x)), append(errors, share(e)), append(ts, fmt.Sprintf("%.1f", t))
	}
	return fmt.Sprintf("§4.3 states that Pareto and Normal values cause more violations than equal values. For BE, the numbers are %s, compared with %s (§4.3, eq. 16, 17). The standard errors that Table 2 implies, %s and %s, give t = %s, which is below the critical value of %v.",
		strings.Join(means, " and "), share(equal), strings.Join(errors, ", "), share(errorOf), strings.Join(ts, " and "), critical), true
}

// Error returns the standard error of a number for best effort. Table 2 implies this error: it
// is the difference from CAC divided by the t value of the difference. If the paper prints no
// violations of CAC, they are assumed to be 0 (“virtually no violations”, §4.3). They are also
// assumed to contribute no error.
func Error(p Printed, configuration, admission, metric string) (float64, bool) {
	if admission != "be" || metric != "violations" && metric != "p_w" {
		return 0, false
	}
	x, ok := p.Number(configuration, admission, "violations")
	less, _ := p.Number(configuration, "cac", "violations")
	t, _, tested := p.Tested(configuration, "be", "cac", "violations")
	return (x - less) / t, ok && tested
}

// short formats a number without the zero before the decimal point, as the paper does. The
// function share does the same with two decimals.
func short(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.4g", x), "0") }
func share(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.2f", x), "0") }
