package policies

import (
	"strings"
	"testing"
)

// TestOptions checks that each policy rejects invalid options and names them.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		options
		want string
	}{
		{"sac", options{"guarantee": 1.0}, "guarantee"},
		{"sac", options{"guarantee": 0.0}, "guarantee"},
		{"sac", options{"threshold": "prices"}, "threshold"},
		{"cac", options{"capacity": "printed"}, "capacity"},
		{"cac", options{"guarantee": -1.0}, "guarantee"},
		{"rac", options{"reject": 1.1}, "reject"},
		{"rac", options{"reject": -0.1}, "reject"},
		{"class", options{"default": "gold"}, "default"},
		{"class", options{"sac": map[string]any{"guarantee": 2}}, "sac.guarantee"},
		{"partition", options{"reserved": 1.5}, "reserved"},
		{"partition", options{"spot": "cac"}, "spot"},
		{"adaptive", options{"high": "edf"}, "high"},
		{"adaptive", options{"above": 0.0}, "above"},
		{"adaptive", options{"margin": -1.0}, "margin"},
		{"platinum", nil, "be, bundle, cac, call, class"},
	} {
		_, err := Table(nil, nil).New(c.policy, c.options.Decode)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want an error about %s", c.policy, c.options, err, c.want)
		}
	}
}
