package publication

import "testing"

// TestLabels checks the display names of policies, of plug-ins that choose hosts, of logs
// and of metrics. No short name may be displayed as a word.
func TestLabels(t *testing.T) {
	t.Parallel()
	l := Labels()
	for name, want := range map[string]string{
		"be": "BE", "cac": "CAC", "edf-all": "EDF all", "easy": "EASY", "mli": "MLI", "pps": "PPS", "tde": "TDE", "minu": "MinU", "maxu": "MaxU",
		"librarisk": "LibraRisk", "librasla": "LibraSLA", "libra": "Libra", "queue": "Queue", "kth": "KTH", "sp2": "SP2", "low": "Low", "kept": "Kept",
		"efficiency_0": "Efficiency, α = 0", "efficiency_0.5": "Efficiency, α = 0.5", "efficiency_per_job": "Efficiency per job", "p_a": "p_a", "q": "q",
		"completed": "Jobs completed", "utility": "Utility achieved", "response_od": "Response OD", "rejections_ar": "Rejections AR", "demand_correlation": "Demand correlation",
	} {
		if got := l.Of(name); got != want {
			t.Errorf("label of %q is %q, want %q", name, got, want)
		}
	}
}
