package predictors

import (
	"reflect"
	"strings"
	"testing"
)

// TestDecode checks that options come out as they went in, and that nothing is taken
// for what it is not.
func TestDecode(t *testing.T) {
	t.Parallel()
	type options struct {
		Days  int            `yaml:"days"`
		Plen  float64        `yaml:"plen"`
		Count string         `yaml:"count"`
		Busy  bool           `yaml:"busy"`
		Of    Spec           `yaml:"of"`
		Any   map[string]any `yaml:"any"`
		Free  any            `yaml:"free"`
	}
	of := map[string]any{"name": "tde", "options": map[string]any{"days": int64(2)}}
	for _, c := range []struct {
		name string
		said any
		want any // the options, or what the error says
	}{
		{"days", int64(3), options{Days: 3}},
		{"days", uint64(3), options{Days: 3}},
		{"days", 3.0, options{Days: 3}},
		{"days", 2.5, "days: found 2.5, want a whole number"},
		{"days", "3", "days: found 3, want a number"},
		{"days", nil, "days: found <nil>, want a number"},
		{"days", 1e30, "days: found 1e+30, want a whole number"},
		{"days", int64(1 << 53), options{Days: 1 << 53}},
		{"days", int64(1<<53 + 2), "want a whole number"},
		{"plen", 2, options{Plen: 2}},
		{"plen", "2", "plen: found 2, want a number"},
		{"plen", true, "plen: found true, want a number"},
		{"count", "ceil", options{Count: "ceil"}},
		{"count", 1, "count: found 1, want a word"},
		{"busy", true, options{Busy: true}},
		{"busy", "true", "busy: found true, want true or false"},
		{"of", "naive", options{Of: Spec{Name: "naive"}}},
		{"of", of, options{Of: Spec{"tde", map[string]any{"days": int64(2)}}}},
		{"of", map[string]any{"nam": "tde"}, `unknown field "of.nam", want one of name, options`},
		{"any", map[string]any{"x": nil}, options{Any: map[string]any{"x": nil}}},
		{"any", nil, options{}},
		{"any", 3, "any: found 3, want a mapping"},
		{"free", 3, options{Free: 3}},
		{"free", nil, options{}},
		{"dais", 1, `unknown field "dais", want one of days, plen`},
		{"Days", 1, `unknown field "Days"`},
	} {
		var got options
		err := Decode(map[string]any{c.name: c.said}, &got)
		if want, bad := c.want.(string); bad {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v: %+v, error %v, want %s", c.name, c.said, got, err, want)
			}
		} else if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v: %+v, %v, want %+v", c.name, c.said, got, err, c.want)
		}
	}
}

// TestWholeDays checks that a predictor in the options of another plug-in is not given
// fewer days than a file says.
func TestWholeDays(t *testing.T) {
	t.Parallel()
	s := Spec{Name: "tde", Options: map[string]any{"days": 2.5}}
	if _, err := s.New(nil); err == nil || !strings.Contains(err.Error(), "days: found 2.5, want a whole number") {
		t.Errorf("error %v", err)
	}
}
