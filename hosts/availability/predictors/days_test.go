package predictors

import (
	"strings"
	"testing"

	"bourse/workloadgen/config"
)

// TestWholeDays checks that a predictor in the options of another plug-in gets the number of
// days that a file states.
func TestWholeDays(t *testing.T) {
	t.Parallel()
	s := config.Spec{Name: "tde", Options: map[string]any{"days": 2.5}}
	if _, err := Table().New(s.Name, s.Decode); err == nil || !strings.Contains(err.Error(), "days: found 2.5, want a whole number") {
		t.Errorf("error %v", err)
	}
}
