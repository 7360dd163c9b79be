package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"bourse/workloadgen/csvtest"
)

// FuzzReadCSV checks that no text makes the reader panic, that accepted rows equal the rows
// that another reader finds, and that the writer accepts and reproduces these rows.
func FuzzReadCSV(f *testing.F) {
	for _, name := range []string{"jobs.csv", "metrics.csv", "summary.csv", "curve.csv"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
		head, _, _ := strings.Cut(string(b), "\n")
		cells := strings.Count(head, ",")
		f.Add(head + "\r\n" + strings.Repeat("1,", cells) + "1\r\n" + strings.Repeat("1,", cells) + "\r")
		f.Add(head + "\n'x,'=1,0x1p3,\"1\n\",'-" + strings.Repeat(",1e400", cells-4) + "\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzTable[Job](t, text)
		fuzzTable[Metric](t, text)
		fuzzTable[Summary](t, text)
		fuzzTable[Point](t, text)
	})
}

func fuzzTable[R any](t *testing.T, text string) {
	var rows []R
	for row, err := range readCSV[R]("table.csv", strings.NewReader(text), nil) {
		if err != nil {
			if !strings.HasPrefix(err.Error(), "table.csv, row ") {
				t.Errorf("error %q does not name file and row", err)
			}
			return
		}
		rows = append(rows, row)
	}
	if err := sameRows(rows, text); err != nil {
		t.Errorf("%q is %+v: %v", text, rows, err)
	}
	var out bytes.Buffer
	w := newCSVWriter(columns[R]())
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		if err := checkRow(w.cols, row); err != nil {
			t.Fatal(err)
		}
		w.write(row, nil)
	}
	out.Write(header(columns[R]()))
	out.Write(w.take())
	if again := collect(t, readCSV[R]("again", &out, nil)); !reflect.DeepEqual(again, rows) {
		t.Errorf("%+v, want %+v", again, rows)
	}
}

// sameRows reports where rows differ from those that another reader finds in text.
func sameRows[R any](rows []R, text string) error {
	table, err := csvtest.Rows(text, 0)
	if err != nil || len(table) != len(rows)+1 {
		return fmt.Errorf("%d rows and a header, %v", len(table), err)
	}
	cols := columns[R]()
	for i, row := range rows {
		for k, c := range cols {
			cell, v := table[i+1][k], reflect.ValueOf(row).Field(k)
			if table[0][k] != c.Name {
				return fmt.Errorf("column %q, want %q", table[0][k], c.Name)
			}
			if c.Nullable {
				if v.IsNil() {
					if cell != "" {
						return fmt.Errorf("row %d: %s is null, want %q", i, c.Name, cell)
					}
					continue
				}
				v = v.Elem()
			}
			number, isNumber := csvtest.Number(cell)
			same := false
			switch c.Type {
			case "text":
				same = v.String() == cell || "'"+v.String() == cell && strings.ContainsAny(cell[1:2], "=+-@'")
			case "truth":
				same = strconv.FormatBool(v.Bool()) == cell
			case "integer":
				n, err := strconv.Atoi(cell)
				same = err == nil && int64(n) == v.Int()
			case "number":
				same = isNumber && number == v.Float()
			case "money":
				same = isNumber && math.Abs(number*1e6-float64(v.Int())) <= 1e-9*math.Abs(float64(v.Int()))
			}
			if !same {
				return fmt.Errorf("row %d: %s is %v, want %q", i, c.Name, v, cell)
			}
		}
	}
	return nil
}

// FuzzManifest checks that an accepted manifest has the same meaning for a reader that
// keeps every key, and that it does not change if it is written and read again.
func FuzzManifest(f *testing.F) {
	m := Manifest{
		Command: []string{"bourse", "run"}, Scenario: "name: x\n", Seed: math.MaxUint64, Replications: 3, WallSeconds: 1.5,
		Inputs: map[string]string{"a/b": "00"}, Ledgers: map[string]string{}, Kind: kind, Format: Format,
		Columns: map[string][]Column{"jobs.csv": columns[Job]()[:2]}, Outputs: map[string]Output{"jobs.csv": {3, "ff"}},
	}
	good, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, c := range manifests {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var m Manifest
		if err := json.Unmarshal(text, &m); err != nil {
			return
		}
		if string(bytes.TrimSpace(text)) == "null" {
			return // encoding/json never calls UnmarshalJSON with such input
		}
		// The output must contain every key of the input with the same value.
		back, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var said, read map[string]any
		if err := errors.Join(json.Unmarshal(text, &said), json.Unmarshal(back, &read)); err != nil {
			t.Fatal(err)
		}
		for k, v := range said {
			if r, ok := read[k]; !ok || fmt.Sprint(clean(v)) != fmt.Sprint(clean(r)) {
				t.Errorf("%q: %s is read as %v, want %v", text, k, r, v)
			}
		}
		if n := keysIn(text); n > countKeys(said) {
			t.Errorf("%q: %d keys, of which %d are told apart", text, n, countKeys(said))
		}
		var again Manifest
		if err := json.Unmarshal(back, &again); err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%s is read again as %+v, %v", back, again, err)
		}
	})
}

// clean removes fields without meaning from objects.
func clean(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			if item = clean(item); item != nil && item != "" && item != 0.0 {
				out[k] = item
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clean(v[i])
		}
		return out
	}
	return v
}

// keysIn counts the keys in a text, which are strings followed by a colon.
func keysIn(text []byte) int {
	n, in, escaped := 0, false, false
	closed := false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case in && c == '\\':
			escaped = true
		case c == '"':
			in = !in
			closed = !in
		case !in && c == ':' && closed:
			n, closed = n+1, false
		}
	}
	return n
}

func countKeys(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		n = len(v)
		for _, item := range v {
			n += countKeys(item)
		}
	case []any:
		for _, item := range v {
			n += countKeys(item)
		}
	}
	return n
}

// FuzzReadParquet checks that no bytes make the Parquet reader panic or loop, and that both
// tables reproduce the accepted rows.
func FuzzReadParquet(f *testing.F) {
	dir := f.TempDir()
	if err := writeTable(dir, "prices", []Price{{"a", "cac", 0, 0, 1.5}, {"a", "cac", 0, 60, 2}}); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, "prices.parquet"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("PAR1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "in.parquet")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		var rows []Price
		for row, err := range readParquet[Price](unchecked(path), filepath.Base(path), nil, nil, new(int)) {
			if err != nil {
				if !strings.Contains(err.Error(), "in.parquet") {
					t.Errorf("error %q does not name the file", err)
				}
				return
			}
			if rows = append(rows, row); len(rows) > 1<<16 {
				return
			}
		}
		if err := writeTable(dir, "out", rows); err != nil {
			t.Fatal(err)
		}
		fromCSV, err := readTable[Price](&Dir{Path: dir, unchecked: true}, "out.csv")
		if again := collect(t, readParquet[Price](unchecked(filepath.Join(dir, "out.parquet")), "out.parquet", nil, nil, new(int))); err != nil || !reflect.DeepEqual(again, rows) || !reflect.DeepEqual(fromCSV, rows) {
			t.Errorf("%+v, %+v, %v, want %+v", again, fromCSV, err, rows)
		}
	})
}
