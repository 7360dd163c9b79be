package config_test

import (
	"strings"
	"testing"

	"bourse/workloadgen/config"
)

// TestUnits checks that numbers with the usual units are accepted and others are rejected, and
// that the unit of a field is the one that its description names.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit config.Unit
		text string
		want float64
		ok   bool
	}{
		{config.Seconds, "90", 90, true}, {config.Seconds, "1e3", 1000, true}, {config.Seconds, "2h", 7200, true}, {config.Seconds, "2h30m", 9000, true},
		{config.Seconds, "1.5 h", 5400, true}, {config.Seconds, "3d", 259200, true}, {config.Seconds, "250ms", 0.25, true}, {config.Seconds, "5min", 300, true},
		{config.Seconds, "2x", 0, false}, {config.Seconds, "", 0, false}, {config.Seconds, "h", 0, false}, {config.Seconds, "-2h", 0, false}, {config.Seconds, "4GB", 0, false},
		{config.Seconds, "NaN", 0, false}, {config.Seconds, "2h extra", 0, false},
		{config.Bytes, "4GB", 4e9, true}, {config.Bytes, "2GiB", 2 << 30, true}, {config.Bytes, "512M", 512 << 20, true}, {config.Bytes, "2h", 0, false},
	} {
		if got, ok := c.unit.Parse(c.text); ok != c.ok || ok && got != c.want {
			t.Errorf("%s %q: %v, %v, want %v, %v", c.unit, c.text, got, ok, c.want, c.ok)
		}
	}
	for doc, want := range map[string]config.Unit{
		"length of the price history that is used, s": config.Seconds, "between looks, s": config.Seconds, "seconds from arrival": config.Seconds,
		"bandwidth per host, bytes per second": config.Bytes, "scale of Y, logarithm of seconds": config.NoUnit, "times processor-seconds": config.NoUnit,
		"in $, say": config.NoUnit, "": config.NoUnit,
	} {
		if got := config.UnitOf(doc); got != want {
			t.Errorf("%q is of %q, want %q", doc, got, want)
		}
	}
	// The same units are valid in options.
	var o struct {
		Hold   float64  `yaml:"hold" doc:"how long it waits, s"`
		Memory *float64 `yaml:"memory" doc:"bytes a host"`
		Load   float64  `yaml:"load" doc:"part of all"`
	}
	if err := config.Of(map[string]any{"hold": "2h", "memory": "4GB"}).Decode("", &o); err != nil || o.Hold != 7200 || *o.Memory != 4e9 {
		t.Errorf("%+v, %v", o, err)
	}
	for value, want := range map[string]string{
		"2 hours":  `hold: found "2 hours", want a number (how long it waits, s; seconds, or as 90s, 2h30m, 3d)`,
		"2h":       `load: found "2h", want a number (part of all)`,
		"4 apples": `memory: found "4 apples", want a number (bytes a host; bytes, or as 512MB, 4GB, 2GiB)`,
	} {
		field, _, _ := strings.Cut(want, ":")
		if err := config.Of(map[string]any{field: value}).Decode("", &o); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
