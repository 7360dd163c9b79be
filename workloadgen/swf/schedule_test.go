package swf

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestSchedule checks the records of jobs that completed, were stopped early, were rejected or
// are not in the log. The log's comments are retained, and the schedule is the same after it is
// written and read.
func TestSchedule(t *testing.T) {
	t.Parallel()
	log, err := Read(strings.NewReader(`; MaxProcs: 128
; Computer: a machine
1 100 7 50 4 12.5 -1 4 60 -1 1 3 2 -1 5 -1 -1 -1
2 110 0 40 2 -1 300 2 45 -1 0 4 -1 -1 -1 -1 1 5
3 120 0 30 1 -1 -1 1 30 -1 1 5 -1 -1 -1 -1 -1 -1
4 130 0 20 1 -1 -1 1 30 -1 1 5 -1 -1 -1 -1 -1 -1
`))
	if err != nil {
		t.Fatal(err)
	}
	got := log.Schedule(map[int64]Slot{
		2: {Submit: 0, Nodes: 2, User: 4, Started: true, Start: 2.5, End: 90, Completed: true},
		3: {Submit: 1, Nodes: 1, User: 5},
		1: {Submit: 1, Nodes: 4, User: 3, Started: true, Start: 1, End: 21.25},
		9: {Submit: 0.5, Nodes: 8, User: 7, Started: true, Start: 0.5, End: 1, Completed: true},
	}, 256, "by bourse")
	var text bytes.Buffer
	if err := got.Write(&text); err != nil {
		t.Fatal(err)
	}
	const want = `; MaxProcs: 256
; Computer: a machine
; Note: by bourse
2 110 2.5 87.5 2 -1 300 2 45 -1 1 4 -1 -1 -1 -1 1 5
9 110.5 0 0.5 8 -1 -1 8 -1 -1 1 7 -1 -1 -1 -1 -1 -1
1 111 0 20.25 4 -1 -1 4 60 -1 0 3 2 -1 5 -1 -1 -1
3 111 -1 -1 -1 -1 -1 1 30 -1 5 5 -1 -1 -1 -1 -1 -1
`
	if text.String() != want {
		t.Errorf("schedule\n%s\nwant\n%s", text.String(), want)
	}
	back, err := Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Records, got.Records) || !slices.Equal(back.Header, got.Header) {
		t.Errorf("read back %v, want %v", back, got)
	}
}
