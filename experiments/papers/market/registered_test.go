package market_test

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestRegistered checks that registered.csv marks a prediction as met if its result is
// within the margin, and that the page states how many are met.
func TestRegistered(t *testing.T) {
	t.Parallel()
	f, err := os.Open("registered.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	met, all := map[string]int{}, map[string]int{}
	for _, row := range rows[1:] {
		var x [3]float64 // predicted value, margin and result
		for i := range x {
			if x[i], err = strconv.ParseFloat(row[4+i], 64); err != nil {
				t.Fatalf("%v: %v", row, err)
			}
		}
		within := math.Abs(x[2]-x[0]) <= x[1]
		if (row[7] == "yes") != within {
			t.Errorf("%v: met is %s, want that of |%v - %v| <= %v", row, row[7], x[2], x[0], x[1])
		}
		if all[row[0]]++; within {
			met[row[0]]++
		}
	}
	page, err := os.ReadFile("../../../cmd/bourse/docs/reproduction.md")
	if err != nil {
		t.Fatal(err)
	}
	for reading, n := range all {
		line := " | " + strconv.Itoa(met[reading]) + " of " + strconv.Itoa(n) + " |"
		name := "| " + strings.TrimSuffix(reading, "*") + " | `payment="
		at := strings.Index(string(page), name)
		if at < 0 {
			t.Errorf("the page has no line that begins with %q", name)
			continue
		}
		if got, _, _ := strings.Cut(string(page)[at:], "\n"); !strings.HasSuffix(got, line) {
			t.Errorf("the page has %q, want it to end in %q", got, line)
		}
	}
}
