package engine_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts/engine"
)

// TestReadWorkload checks that a plain and a compressed file give the same workload, and that a
// bid becomes a whole number of nano-dollars per second.
func TestReadWorkload(t *testing.T) {
	t.Parallel()
	text := "3 2\n1.5 2 10.25 0.1288\n1.5 3 0 2\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(text))
	z.Close()
	want := []engine.Job{
		{Arrival: 1.5, Nodes: 2, Work: 10.25, Rate: 128_800_000},
		{Arrival: 1.5, Nodes: 3, Work: 0, Rate: 2_000_000_000},
	}
	for _, in := range []string{text, strings.TrimSpace(text), strings.ReplaceAll(text, "\n", "\r\n"), "\ufeff" + strings.ReplaceAll(text, "\n", "\n\n"), zipped.String()} {
		w, err := engine.ReadWorkload("w.txt", strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		if w.Hosts != 3 || !slices.Equal(w.Jobs, want) {
			t.Errorf("%q is read as %+v, want 3 hosts and %+v", in, w, want)
		}
	}
}

// TestFineBids checks that bids with more digits than nano-dollars divide a host exactly: a job
// with two thirds of all bids takes one and a half times as long as with the whole host.
func TestFineBids(t *testing.T) {
	t.Parallel()
	for _, bids := range [][2]string{{"0.3333333333333333", "0.6666666666666666"}, {"1.4e-9", "2.8e-9"}, {"123456.123456789012", "246912.246913578024"}} {
		text := "1 2\n0 1 1 " + bids[0] + "\n0 1 1 " + bids[1] + "\n"
		w, err := engine.ReadWorkload("w.txt", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var e engine.Engine
		r, err := e.Run(w, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.End[1]; math.Abs(got-1.5) > 1e-12 {
			t.Errorf("%v: done at %v, want 1.5", bids, got)
		}
	}
}

// TestFinestUnit checks that rates are in the smallest power of ten of a dollar in which the
// sum of all bids, each counted on every host of its job, fits.
func TestFinestUnit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		n := rapid.IntRange(1, 5).Draw(t, "jobs")
		fmt.Fprintf(&text, "9 %d\n0 1 1 1.5e-9\n", n+1) // one bid is not a whole number of nano-dollars
		for range n {
			bid := math.Pow(10, rapid.Float64Range(-8, 5).Draw(t, "power of ten"))
			fmt.Fprintln(&text, 0, rapid.IntRange(1, 9).Draw(t, "hosts"), 1, bid)
		}
		w, err := engine.ReadWorkload("w.txt", strings.NewReader(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		sum := new(big.Int)
		for _, job := range w.Jobs {
			sum.Add(sum, new(big.Int).Mul(big.NewInt(job.Rate), big.NewInt(int64(job.Nodes))))
		}
		const most = 1 << 62
		if ten := new(big.Int).Mul(sum, big.NewInt(10)); sum.Cmp(big.NewInt(most)) >= 0 || ten.Cmp(big.NewInt(most/4)) < 0 {
			t.Fatalf("rates sum to %v, want less than %d, and more than a fortieth", sum, most)
		}
	})
}

// TestReadWorkloadErrors checks that the error for each mistake names the file, the line, the
// field, the value found and the values wanted.
func TestReadWorkloadErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                          `w.txt:1: found the end of the file, want hosts and jobs`,
		"3\n":                       `w.txt:1: found 1 fields, want 2: hosts and jobs`,
		"0 1\n":                     `w.txt:1: hosts: found "0", want a whole number from 1 to 1000000`,
		"99999999999999999999 1\n":  `w.txt:1: hosts: found "99999999999999999999", want a whole number from 1 to 1000000`,
		"3 -1\n":                    `w.txt:1: jobs: found "-1", want a whole number from 0 to 10000000`,
		"3 10000001\n":              `w.txt:1: jobs: found "10000001", want a whole number from 0 to 10000000`,
		"3 10000000\n":              `w.txt:2: found the end of the file, want arrival, hosts, work and bid`,
		"3 1\n1 1 1\n":              `w.txt:2: found 3 fields, want 4: arrival, hosts, work and bid`,
		"3 1\n-1 1 1 1\n":           `w.txt:2: arrival: found "-1", want a number from 0 to 1e+12`,
		"3 1\nNaN 1 1 1\n":          `w.txt:2: arrival: found "NaN", want a number from 0 to 1e+12`,
		"3 1\n+Inf 1 1 1\n":         `w.txt:2: arrival: found "+Inf", want a number from 0 to 1e+12`,
		"3 2\n5 1 1 1\n4 1 1 1\n":   `w.txt:3: arrival: found "4", want a number from 5 to 1e+12`,
		"3 1\n1 4 1 1\n":            `w.txt:2: hosts: found "4", want a whole number from 1 to 3`,
		"3 1\n1 1.5 1 1\n":          `w.txt:2: hosts: found "1.5", want a whole number from 1 to 3`,
		"3 1\n1 1 -1 1\n":           `w.txt:2: work: found "-1", want a number from 0 to 1e+12`,
		"3 1\n1 1 1e1000000000 1\n": `w.txt:2: work: found "1e1000000000", want a number from 0 to 1e+12`,
		"3 1\n1 1 1 0\n":            `w.txt:2: bid: found "0", want a number from 1e-09 to 1e+06`,
		"3 1\n0x1p4 1 1 1\n":        `w.txt:2: arrival: found "0x1p4", want a number from 0 to 1e+12`,
		"3 1\n0x_1p4 1 1 1\n":       `w.txt:2: arrival: found "0x_1p4", want a number from 0 to 1e+12`,
		"3 1\n\v1 1 1 1\n":          `w.txt:2: found '\v', want blanks between fields and a line feed after them`,
		"3 1\n1 1\r1 1\n":           `w.txt:2: found '\r', want blanks between fields and a line feed after them`,
		"3 1\r1 1 1 1\r":            `w.txt:1: found '\r', want blanks between fields and a line feed after them`,
		"3 1\n1 1 1 x\n":            `w.txt:2: bid: found "x", want a number from 1e-09 to 1e+06`,
		"3 1\n1 1 1 1\n\nmore\n":    `w.txt:4: jobs: found "more", want the end after 1 jobs`,
		"3 1\n1 1 1 1\n2 1 1 1\n":   `w.txt:3: jobs: found "2 1 1 1", want the end after 1 jobs`,
		"\x1f\x8bnot gzip at all":   `w.txt: gzip: invalid header`,
		strings.Repeat("3", 1e6):    `w.txt:1: found a line of more than 256 bytes`,
		"3 1\n1 1 1 1\n\n" + strings.Repeat("3", 1e6): `w.txt:4: found a line of more than 256 bytes`,
		"8192 1\n1 8192 1 562949.953421312":           `w.txt:2: bid: found "562949.953421312", want all bids to sum to less`, // the bids add up to 2^62 nano-dollars per second
		"5000 1\n1 5000 1 1000000":                    `w.txt:2: bid: found "1000000", want all bids to sum to less`,
	} {
		_, err := engine.ReadWorkload("w.txt", strings.NewReader(in))
		if err == nil || err.Error() != want {
			t.Errorf("%.40q: got %v, want %s", in, err, want)
		}
	}
}

// Example runs two jobs on two hosts. The jobs share host 0 in the ratio 1 to 3 until the second
// job has done its work there. On host 1 that job has no competitor.
func Example() {
	w, err := engine.ReadWorkload("jobs.txt", strings.NewReader("2 2\n0 1 10 1\n0 2 10 3\n"))
	if err != nil {
		panic(err)
	}
	var e engine.Engine
	r, err := e.Run(w, 1, 0)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.End, r.Events)
	// Output: [20 13.333333333333334] 5
}
