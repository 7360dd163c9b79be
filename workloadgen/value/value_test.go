package value

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
)

func made(t testing.TB, name, options string) (Model, error) {
	t.Helper()
	return Table().New(name, func(out any) error {
		return config.Read("", []byte(options), out)
	})

}

// TestModels checks that every model has a description, and that its quantiles are at least 0
// and never decrease with the uniform.
func TestModels(t *testing.T) {
	t.Parallel()
	for _, name := range Table().Names() {
		m, err := Table().New(name, nil)
		if err != nil || Table().Doc(name) == "" {
			t.Errorf("%s: %v, line %q", name, err, Table().Doc(name))
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			u, v := rapid.Float64Range(1e-12, 1-1e-12).Draw(t, "u"), rapid.Float64Range(1e-12, 1-1e-12).Draw(t, "v")
			if a, b := m.Quantile(min(u, v)), m.Quantile(max(u, v)); a < 0 || a > b {
				t.Fatalf("%s: %v at %v, %v at %v", name, a, min(u, v), b, max(u, v))
			}
		})
		if _, err := made(t, name, "colour: red"); err == nil || !strings.Contains(err.Error(), "colour") {
			t.Errorf("%s: error %v, want that colour is unknown", name, err)
		}
	}
}

// TestPaperValues checks the paper's laws: Equal is 1. Normal has mean and standard deviation 1
// before values below 0.05 are raised to 0.05. Pareto with shape 1.16 gives a fifth of the jobs
// about four fifths of the value.
func TestPaperValues(t *testing.T) {
	t.Parallel()
	equal, _ := Table().New("equal", nil)
	normal, _ := Table().New("normal", nil)
	pareto, _ := Table().New("pareto", nil)
	for _, c := range []struct {
		what           string
		got, want, tol float64
	}{
		{"equal", equal.Quantile(0.3), 1, 0},
		{"normal at one standard deviation", normal.Quantile(0.8413447460685429), 2, 1e-9},
		{"normal below", normal.Quantile(0.1), 0.05, 0},
		{"pareto at the median", pareto.Quantile(0.5), math.Pow(2, 1/1.16), 1e-12},
		{"pareto at its least", pareto.Quantile(1e-15), 1, 1e-12},
	} {
		if math.Abs(c.got-c.want) > c.tol {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	src := rand.NewPCG(1, 1)
	below := 0
	for range 100_000 {
		if normal.Quantile(dist.Open(src)) == 0.05 {
			below++
		}
	}
	if p := float64(below) / 1e5; math.Abs(p-0.171) > 0.005 { // PHI(-0.95)
		t.Errorf("a share of %v is cut, want 0.171", p)
	}
}

// TestErrors checks that options out of range are rejected by name.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, options, want string }{
		{"gold", "", `unknown value model "gold", want one of equal, normal, pareto`},
		{"pareto", "shape: 0", "shape: found 0"},
		{"pareto", "min: .nan", "min: found .nan"},
		{"normal", "mean: .inf", "mean: found .inf"},
		{"normal", "sd: 0", "sd: found 0"},
		{"normal", "min: -1", "min: found -1"},
	} {
		if _, err := made(t, c.name, c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: error %v, want %s", c.name, c.options, err, c.want)
		}
	}
}
