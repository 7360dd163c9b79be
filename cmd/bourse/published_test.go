package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPublished checks that an audit of results recomputes every charge of a run, under
// each payment rule and with penalties. If a cell of the jobs table was changed or a table
// is missing, the audit must name it and exit with status 3.
func TestPublished(t *testing.T) {
	t.Parallel()
	must := func(want int, args ...string) string {
		t.Helper()
		status, out, errs := bourse(t, t.Context(), args...)
		if status != want {
			t.Fatalf("%v: status %d, want %d\n%s%s", args, status, want, errs, out)
		}
		return out
	}
	cases := [][2]string{
		{"paper", "base.market.payment=usage"},
		{"paper", "base.sla={runs_on: true, enforcement: per-host, penalty: {rate: 0.01}}"},
		{"spot-or-reserve", "base.workload.annotate.reservations.cancel=0.3"},
	}
	if *allPresets {
		cases = append(cases, [][2]string{
			{"paper", "base.market.payment=budget"}, {"paper", "base.market.payment=scarce"}, {"paper", "base.market.payment=admission"},
			{"paper", "base.horizon=3000"}, {"paper", "base.market.instant=submissions-first"},
			{"paper", "base.sla={deadline: hard, penalty: {rate: 0.01, max: 1.5}}"}, {"spot-or-reserve", "base.sla.penalty={rate: 0.01}"},
			{"spot-or-reserve", "base.workload.annotate.reservations.parts.share=0.5"},
		}...)
	}
	for _, c := range cases {
		preset, set := c[0], c[1]
		dir := filepath.Join(t.TempDir(), "r")
		must(statusDone, "run", "--quiet", "--preset", preset, "--replications", "1", "--set", set, "--out", dir)
		out := must(statusDone, "ledger", "audit", dir)
		if n, want := strings.Count(out, "/0: clean"), strings.Count(out, "were recomputed and agree with the table of jobs"); n == 0 || n != want {
			t.Errorf("%s: %d ledgers are clean, %d were recomputed:\n%s", set, n, want, out)
		}
		if set != "base.market.payment=usage" {
			continue
		}
		name := filepath.Join(dir, "jobs.csv")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for column, cell := range map[string]string{"paid": "0.000001", "decision": "reject", "fulfilled": "maybe", "deadline": "1", "bid": "2"} {
			col := slices.Index(rows[0], column)
			was := rows[7][col]
			rows[7][col] = cell
			var changed bytes.Buffer
			if err := csv.NewWriter(&changed).WriteAll(rows); err != nil {
				t.Fatal(err)
			}
			rows[7][col] = was
			if err := os.WriteFile(name, changed.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			out := must(statusAudit, "ledger", "audit", dir)
			if want := "jobs.csv, row 8, column " + rows[0][col]; !strings.Contains(out, want) || !strings.Contains(out, ": BAD") {
				t.Errorf("%q in place of %q: not named: %s\n%s", cell, was, want, out)
			}
		}
		for _, table := range []string{"jobs.csv", "prices.parquet"} {
			if err := os.Remove(filepath.Join(dir, table)); err != nil {
				t.Fatal(err)
			}
			if out := must(statusAudit, "ledger", "audit", dir); !strings.Contains(out, table+": found") {
				t.Errorf("%s is gone, and not named:\n%s", table, out)
			}
		}
	}
}
