package verify

import "testing"

// TestRows checks that rows are found where they were added and do not move.
func TestRows(t *testing.T) {
	t.Parallel()
	var rows Rows
	var added []*Job
	for n := range 20 * firstPart {
		j := rows.add()
		if *j != (Job{}) {
			t.Fatalf("row %d was not empty: %+v", n, *j)
		}
		j.ID = int64(n)
		added = append(added, j)
		if rows.Len() != n+1 || rows.at(n) != j {
			t.Fatalf("%d rows, the last elsewhere than where it was added", rows.Len())
		}
	}
	n := 0
	for i, j := range rows.all() {
		if i != n || j != added[i] || j.ID != int64(i) {
			t.Fatalf("row %d is %d, %+v", n, i, *j)
		}
		n++
	}
	if n != len(added) {
		t.Errorf("%d rows, want %d", n, len(added))
	}
}
