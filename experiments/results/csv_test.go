package results

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestReadErrors checks that an error names the file, the row and the column.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	const header = "configuration,admission,metric,n,mean,sd,lo95,hi95,paper\n"
	for _, c := range []struct{ text, want string }{
		{"", "s.csv, row 1: empty: want a header"},
		{"a,b\n", "s.csv, row 1: 2 cells, want 9"},
		{strings.Replace(header, "sd", "std", 1), `s.csv, row 1: column 6 is "std", want "sd"`},
		{header + "c,a,m,1\n", "s.csv, row 2: 4 cells, want 9"},
		{header + "c,a,m,1,2,,,,\nc,a,m,x,2,,,,\n", `s.csv, row 3, column n: "x", want an integer`},
		{header + "c,a,m,1,NaN,,,,\n", `s.csv, row 2, column mean: "NaN", want a finite number`},
		{header + "c,a,m,1,1e999,,,,\n", `column mean: "1e999", want a finite number`},
		{header + "c,a\x07,m,1,1,,,,\n", "column admission: "},
		{header + "c,\"a,m,1,1,,,,\n", "s.csv, row 2: "},
	} {
		var got error
		for _, err := range readCSV[Summary]("s.csv", strings.NewReader(c.text), nil) {
			got = err
		}
		if got == nil || !strings.Contains(got.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, got, c.want)
		}
	}
	dir := write(t)
	for name, text := range map[string]string{"jobs.parquet": "no parquet", "prices.parquet": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(write(t), "prices.parquet"), filepath.Join(dir, "jobs.parquet")); err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d = d.Unchecked()
	for _, err := range d.Jobs(nil, nil) {
		if err == nil || !strings.Contains(err.Error(), "jobs.parquet: 5 columns, want 25") {
			t.Errorf("another table's file: %v", err)
		}
	}
	for _, err := range d.Prices(nil) {
		if err == nil || !strings.Contains(err.Error(), "prices.parquet") {
			t.Errorf("an empty file: %v", err)
		}
	}
}

// TestMoney checks the text of amounts and the limit on the parsed length.
func TestMoney(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Money{
		"0.000000": 0, "0.000001": 1, "-0.000001": -1, "12.500000": 12_500_000,
		"-999999999999.999999": -(maxMoney - 1),
	} {
		got, err := parseMoney(s)
		if err != nil || got != want || want.String() != s {
			t.Errorf("%s = %d, %v, want %d, which prints %s", s, got, err, want, want)
		}
	}
	for _, s := range []string{"", "1e9", "+1", "1.0000001", "1000000000000", "--1", ".", "1_0", "NaN", strings.Repeat("9", 1<<20)} {
		if m, err := parseMoney(s); err == nil {
			t.Errorf("%.40q = %v, want an error", s, m)
		}
	}
}

// TestAnyRow checks that any row that is not rejected reads back unchanged from CSV and
// Parquet, and that no CSV cell with text begins like a formula.
func TestAnyRow(t *testing.T) {
	t.Parallel()
	text := rapid.StringOf(rapid.RuneFrom([]rune("=+-@'\",; aé漢"))).Filter(func(s string) bool { return checkText(s) == nil })
	number := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
	money := rapid.Map(rapid.Int64Range(-int64(maxMoney)+1, int64(maxMoney)-1), func(n int64) Money { return Money(n) })
	row := rapid.Custom(func(t *rapid.T) Job {
		return Job{
			text.Draw(t, "configuration"), text.Draw(t, "admission"), rapid.Int().Draw(t, "replication"),
			text.Draw(t, "job"), text.Draw(t, "user"), number.Draw(t, "arrival"), number.Draw(t, "runtime"),
			rapid.Ptr(number, true).Draw(t, "estimate"), rapid.Ptr(number, true).Draw(t, "deadline"), rapid.Int().Draw(t, "nodes"), money.Draw(t, "value"), rapid.Ptr(number, true).Draw(t, "bid"), text.Draw(t, "decision"), text.Draw(t, "reason"),
			rapid.Ptr(number, true).Draw(t, "start"), rapid.Ptr(number, true).Draw(t, "finish"), rapid.Ptr(number, true).Draw(t, "share"), number.Draw(t, "work"),
			rapid.Ptr(number, true).Draw(t, "work_done"), rapid.Ptr(money, true).Draw(t, "paid"),
			rapid.Ptr(money, true).Draw(t, "penalty"), rapid.Ptr(rapid.Bool(), true).Draw(t, "fulfilled"),
			rapid.Ptr(rapid.Int(), true).Draw(t, "losses"), rapid.Ptr(number, true).Draw(t, "wasted"), rapid.Ptr(money, true).Draw(t, "penalty_owed"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOfN(row, 1, 20).Draw(rt, "rows")
		dir := t.TempDir()
		at := rapid.IntRange(0, len(want)).Draw(rt, "at")
		if err := writeTable(dir, "jobs", want[:at], want[at:]); err != nil {
			rt.Fatal(err)
		}
		if got := collect(t, readParquet[Job](unchecked(filepath.Join(dir, "jobs.parquet")), "jobs.parquet", nil, nil, new(int))); !reflect.DeepEqual(got, want) {
			rt.Errorf("jobs.parquet: %+v, want %+v", got, want)
		}
		got, err := readTable[Job](&Dir{Path: dir, unchecked: true}, "jobs.csv")
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Errorf("jobs.csv: %+v, %v, want %+v", got, err, want)
		}
		for _, r := range want {
			if s := SafeText(r.User); s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
				rt.Errorf("cell %q", s)
			}
		}
	})
}

// writeTable writes rows to name.csv and name.parquet in dir, with each slice as a block.
func writeTable[R any](dir, name string, blocks ...[]R) (err error) {
	tab := newTable[R](name, nil, csvKind, parquetKind)
	headers := map[string][]byte{csvKind: header(columns[R]()), parquetKind: nil}
	for kind, head := range headers {
		f, err := newFile(dir, name+kind, head, nil)
		if err != nil {
			return err
		}
		for _, rows := range blocks {
			b := make(Block)
			if err := errors.Join(tab.append(rows), tab.take(b), f.append(b[f.name])); err != nil {
				return err
			}
		}
		if err := f.close(); err != nil {
			return err
		}
	}
	return nil
}
