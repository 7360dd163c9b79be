package papers

import (
	"strings"
	"testing"

	"bourse/experiments/papers/claims"
	"bourse/experiments/report"
)

// TestWhichHold checks that claims judged on several make a row a claim and a
// column for what they are judged on, failures marked, and that others make none.
func TestWhichHold(t *testing.T) {
	t.Parallel()
	j := Judged{Claims: []claims.Judgement{
		{ID: "1-desk", On: "desk", Verdict: claims.Supported}, {ID: "1-lab", On: "lab", Verdict: claims.Contradicted},
		{ID: "2", Verdict: claims.Supported}, {ID: "3-peak-lab", On: "lab", Verdict: claims.NotTestable},
	}}
	got := strings.Fields(j.table().Text(report.Terminal{}))
	want := "Which claims hold on which claim | desk | lab --------+-----------+--------------- 1 | supported | contradicted* 3-peak | - | not testable"
	if strings.Join(got, " ") != want {
		t.Errorf("table %s, want %s", strings.Join(got, " "), want)
	}
	j.Claims = j.Claims[2:3]
	if n := len(j.table().Rows); n != 0 {
		t.Errorf("%d rows of claims that are judged once", n)
	}
}
