package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestWords checks that each row has the text of its own cells, even if the text changes from
// row to row.
func TestWords(t *testing.T) {
	t.Parallel()
	const text = "configuration,admission,replication,job,user,arrival,work,nodes,value,deadline,bid,decision,reason,start,finish,share,work_done,paid,penalty,fulfilled\n" +
		"a,be,0,1,'x,0,1,1,1.000000,,,accept,,,,,,,,true\n" +
		"a,be,0,2,xy,0,1,1,1.000000,,,reject,no,,,,,,,\n" +
		"a,be,0,3,x,0,1,1,1.000000,,,accept,,,,,,,,false\n" +
		"a,be,1,1,,0,1,1,1.000000,,,accept,accept,,,,,,,true\n"
	runs, err := ReadJobs(strings.NewReader(text), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, run := range []string{"a/be/0", "a/be/1"} {
		rows := runs[run]
		for _, j := range rows.all() {
			got = append(got, fmt.Sprintf("%s: %d %q %q %q %q", run, j.ID, j.User, j.Decision, j.Reason, j.Fulfilled))
		}
	}
	want := []string{
		`a/be/0: 1 "x" "accept" "" "true"`, `a/be/0: 2 "xy" "reject" "no" ""`, `a/be/0: 3 "x" "accept" "" "false"`, `a/be/1: 1 "" "accept" "accept" "true"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
