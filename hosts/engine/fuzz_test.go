package engine_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"bourse/hosts/engine"
	"bourse/workloadgen/csvtest"
)

// FuzzReadWorkload checks that ReadWorkload returns for any input a workload or an error that
// names the file. A second reader must find the same workload, and the workload must run to its
// end.
func FuzzReadWorkload(f *testing.F) {
	for _, s := range []string{
		"3 2\n1.5 2 10.25 0.1288\n1.5 3 0 2\n", "1 1\n0 1 1e12 1e-9\n", "1000000 9\n", "\x1f\x8b", "3 1\r1 1 1 1\r", "3 1\r\n1 1 1 1\r\n\r\n",
		"3 1\n0x1p4 1 0x_1 1_0\n", "\ufeff+3 01\n\n-0 +1 .5 1.\n", "3\u00a01\n1\v1 1 1", "2 2\n0 1 1 0.0000000015\n1e-400 2 1 1e6\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := engine.ReadWorkload("w.txt", bytes.NewReader(b))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "w.txt:") {
				t.Fatalf("error %q does not name the file", err)
			}
			return
		}
		if err := sameWorkload(w, b); err != nil {
			t.Fatalf("%q is %+v: %v", b, w, err)
		}
		if w.Hosts > 100 {
			return
		}
		var e engine.Engine
		got, err := e.Run(w, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		for j, job := range w.Jobs {
			if !(got.End[j] >= job.Arrival && got.End[j] < math.Inf(1)) {
				t.Fatalf("job %d arrives at %v and ends at %v", j, job.Arrival, got.End[j])
			}
		}
	})
}

// sameWorkload reads the workload with a second reader, which accepts LF, CR LF and CR as line
// ends. It returns an error that states where w differs.
func sameWorkload(w *engine.Workload, b []byte) error {
	text := strings.TrimPrefix(string(b), "\ufeff")
	if strings.HasPrefix(text, "\x1f\x8b") {
		z, err := gzip.NewReader(strings.NewReader(text))
		if err != nil {
			return err
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			return err
		}
		text = string(plain)
	}
	var rows [][]string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\v' || r == '\f' }) {
		if row := strings.Fields(line); len(row) > 0 {
			rows = append(rows, row)
		}
	}
	if len(rows) != len(w.Jobs)+1 || len(rows[0]) != 2 {
		return fmt.Errorf("%d rows, the first %q", len(rows), rows[0])
	}
	if hosts, err := strconv.Atoi(rows[0][0]); err != nil || hosts != w.Hosts {
		return fmt.Errorf("hosts %q", rows[0][0])
	}
	var unit, first float64 // only the ratios of bids matter
	for i, row := range rows[1:] {
		j := w.Jobs[i]
		if len(row) != 4 {
			return fmt.Errorf("job %d has %d fields", i, len(row))
		}
		arrival, ok1 := csvtest.Number(row[0])
		work, ok2 := csvtest.Number(row[2])
		bid, ok3 := csvtest.Number(row[3])
		nodes, err := strconv.Atoi(row[1])
		if !ok1 || !ok2 || !ok3 || err != nil || arrival != j.Arrival || work != j.Work || nodes != int(j.Nodes) {
			return fmt.Errorf("job %d is %q", i, row)
		}
		if i == 0 {
			unit, first = float64(j.Rate)/bid, bid
		}
		// Rates are rounded to a unit. The unit is computed from the first rate, so its
		// rounding error affects all others.
		if got, want := float64(j.Rate), unit*bid; math.Abs(got-want) > 0.51+0.51*bid/first+1e-9*want {
			return fmt.Errorf("job %d has rate %v, want %v", i, got, want)
		}
	}
	return nil
}
