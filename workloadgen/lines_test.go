package workloadgen_test

import (
	"strings"
	"testing"

	"bourse/workloadgen"
)

// TestCSVLines checks that only rows that every program reads as one line are accepted.
func TestCSVLines(t *testing.T) {
	t.Parallel()
	const head = "arrival,runtime,nodes\n"
	spaces := strings.Repeat(" ", 1<<17)
	for _, c := range []struct {
		file string
		want string // text of the error; empty if the file is accepted
	}{
		{head + "0,1,1\r\n1,1,1\r", ""},
		{head + "# \"\n0,1,1", ""},
		{head + "0," + spaces + "1,1\r\n", ""},
		{strings.ReplaceAll(head+"0,1,1\n", "\n", "\r"), "p.csv:1: found a carriage return within the line"},
		{head + "0,1\r,1\n", "p.csv:2: found a carriage return within the line"},
		{head + "0,1,1\r\r\n", "p.csv:2: found a carriage return"},
		{head + "0,1,1\n0," + spaces + "\r" + spaces + ",1,1\n", "p.csv:3: found a carriage return"},
		{head + "0,1,\"1\n\"\n", `p.csv:2: extraneous or missing " in quoted-field`},
		{head + "0,\"" + spaces + "\n1\",1\n", `p.csv:2: extraneous or missing " in quoted-field`},
		{head + strings.Repeat("0", 17<<20), "p.csv:2: found a line of more than 16777216 bytes"},
		{head + "0,1,1,\"1\"\"", `p.csv:2: `},
	} {
		_, err := workloadgen.ReadCSV(strings.NewReader(c.file), "p.csv")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.60q: %v, want %s", c.file, err, c.want)
		}
	}
}

// TestZeroEstimate checks that an estimate and a deadline of 0 are rejected, because they are
// not the same as missing ones.
func TestZeroEstimate(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"arrival,runtime,nodes,estimate\n0,1,1,0\n":   "p.csv:2: job 1: estimate is 0, want more",
		"arrival,runtime,nodes,deadline\n0,1,1,0.0\n": "p.csv:2: job 1: deadline is 0, want more",
	} {
		if _, err := workloadgen.ReadCSV(strings.NewReader(file), "p.csv"); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", file, err, want)
		}
	}
}
