package results

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// TestDamagedParquet checks that a file with a few wrong bytes is read, or refused with an
// error that names the file, and never ends the program.
func TestDamagedParquet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeTable(dir, "prices", []Price{{"a", "cac", 0, 0, 1.5}, {"a", "cac", 0, 60, 2}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "prices.parquet")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	damaged := 0
	for range 300 {
		b := append([]byte{}, good...)
		for range 1 + random.IntN(3) {
			b[random.IntN(len(b))] = byte(random.IntN(256))
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, err := range readParquet[Price](unchecked(path), filepath.Base(path), nil, nil, new(int)) {
			if err == nil {
				continue
			}
			if !strings.Contains(err.Error(), "prices.parquet") {
				t.Errorf("error %q does not name the file", err)
			}
			if strings.Contains(err.Error(), "damaged") {
				damaged++
			}
		}
	}
	if damaged == 0 {
		t.Error("nothing made the library panic: the test shows nothing")
	}
}

// TestLongFooter checks that a file that claims a footer of gigabytes is refused without
// allocating them.
func TestLongFooter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prices.parquet")
	for text, want := range map[string]string{
		"PAR1....\xff\xff\xff\xe0PAR1": "prices.parquet: damaged: the footer has 3774873599 bytes, but the whole file has 16",
		"PAR1....\x00\x00\x00\x00PAR2": "not Parquet: ends in \"PAR2\"",
		"PAR1":                         "not Parquet: the file is too short",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, err := range readParquet[Price](unchecked(path), filepath.Base(path), nil, nil, new(int)) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", text, err, want)
			}
		}
	}
}

// TestManyPages checks that tables with several groups and pages pass the checks for
// damage.
func TestManyPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const n = 2*rowsPerGroup + 7
	rows := make([]Price, n)
	for i := range rows {
		rows[i] = Price{"a", strings.Repeat("x", i%7), i, float64(i) / 7, float64(i * i)}
	}
	if err := writeTable(dir, "prices", rows[:10], rows[10:10], rows[10:]); err != nil {
		t.Fatal(err)
	}
	i := 0
	for row, err := range readParquet[Price](unchecked(filepath.Join(dir, "prices.parquet")), "prices.parquet", nil, nil, new(int)) {
		if err != nil || row != rows[i] {
			t.Fatalf("row %d is %+v, %v, want %+v", i, row, err, rows[i])
		}
		i++
	}
	if i != n {
		t.Errorf("%d rows, want %d", i, n)
	}
	row := 0
	for got, err := range readParquet[Price](unchecked(filepath.Join(dir, "prices.parquet")), "prices.parquet", nil, func(n int) bool { return n == rowsPerGroup+20 }, &row) {
		if err != nil || got != rows[row-1] || row <= rowsPerGroup+10 {
			t.Fatalf("row %d is %+v, %v, want one of the last group", row, got, err)
		}
	}
	if row != n {
		t.Errorf("the last is row %d, want %d", row, n)
	}
}

// TestOrdinals checks that row groups are numbered in order, as readers expect, whatever their
// numbers in the source. If there are more groups than the format can number, no group must
// have a number.
func TestOrdinals(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, math.MaxInt16 + 1, math.MaxInt16 + 2} {
		m := &format.FileMetaData{RowGroups: make([]format.RowGroup, n)}
		for i := range m.RowGroups {
			m.RowGroups[i].Ordinal = 7
		}
		footer(m)
		for i, g := range m.RowGroups {
			if want := int16(i); n <= math.MaxInt16+1 && g.Ordinal != want || n > math.MaxInt16+1 && g.Ordinal != 0 {
				t.Fatalf("of %d groups number %d is %d", n, i, g.Ordinal)
			}
		}
	}
}

// TestBounds checks that readers can skip groups by the bounds of run columns and of numbers.
// There must be no bounds of other text columns, and none of pages.
func TestBounds(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join(write(t), "jobs.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.ColumnIndexes()); n > 0 {
		t.Errorf("%d indexes of pages, want none", n)
	}
	bounded := map[string]bool{"configuration": true, "admission": true, "arrival": true, "job": false, "user": false, "decision": false, "reason": false}
	for _, c := range p.Metadata().RowGroups[0].Columns {
		s := c.MetaData.Statistics
		if want, ok := bounded[c.MetaData.PathInSchema[0]]; ok && (want != (s.MinValue != nil) || want != (s.MaxValue != nil)) {
			t.Errorf("%s: bounds %q to %q, want some: %v", c.MetaData.PathInSchema[0], s.MinValue, s.MaxValue, want)
		}
	}
}
