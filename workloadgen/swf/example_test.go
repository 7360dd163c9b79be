package swf_test

import (
	"fmt"
	"strings"

	"bourse/workloadgen/swf"
)

// The example reads a log of four lines, one of which is not a record, and prints the plan of
// the jobs that ran.
func ExampleRead() {
	const log = `; MaxProcs: 8
1  0 5 60 2 -1 -1 2  90 -1 1 3 -1 -1 -1 -1 -1 -1
2 10 5 -1 4 -1 -1 4  90 -1 5 3 -1 -1 -1 -1 -1 -1
3 20 5 ten 4 -1 -1 4 90 -1 1 4 -1 -1 -1 -1 -1 -1
4 30 5 60 8 -1 -1 8
`
	trace, err := swf.Read(strings.NewReader(log))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(&trace.Accounting)
	plan, acc := trace.Plan(swf.NoMemory)
	fmt.Print(&acc)
	for _, j := range plan {
		fmt.Printf("job %d arrives at %v s and runs %v s on %d processors\n", j.ID, j.Arrival, j.Runtime, j.Nodes)
	}
	// Output:
	// 5 lines: 1 comments, 0 blank, 2 used, 1 repaired, 1 skipped
	//   missing fields, treated as unknown: 1 repaired, first at line 5
	//   not a number: 1 skipped, first at line 4, field 4 (run time), found "ten"
	// 3 records: 1 used, 1 repaired, 1 skipped
	//   requested time unknown, run time used: 1 repaired, first at record 3
	//   user unknown, 0 used: 1 repaired, first at record 3
	//   never ran: 1 skipped, first at record 2
	// job 1 arrives at 0 s and runs 60 s on 2 processors
	// job 4 arrives at 30 s and runs 60 s on 8 processors
}
