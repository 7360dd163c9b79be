package results

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"bourse/bank/whole"
)

// Differ returns the first column in which two rows differ, and both cells. The name is empty
// if there is no difference. It compares the named columns or, if none is named, all columns.
func Differ[R any](a, b *R, names ...string) (column, one, other string) {
	cell := func(row *R, i int) string {
		v := reflect.ValueOf(row).Elem().Field(i)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return "nothing"
			}
			v = v.Elem()
		}
		return fmt.Sprint(v.Interface())
	}
	for i, c := range columns[R]() {
		if len(names) > 0 && !slices.Contains(names, c.Name) {
			continue
		}
		if x, y := cell(a, i), cell(b, i); x != y {
			return c.Name, x, y
		}
	}
	return "", "", ""
}

// TextJobs yields the rows of jobs.csv or, if that file does not exist, of jobs.parquet. It
// does not compare the file with the manifest. The results must have the newest format.
func (d *Dir) TextJobs() iter.Seq2[Job, error] {
	like, text := d.Unchecked(), "jobs"+csvKind
	if d.File("jobs") != text {
		return like.Jobs(nil, nil)
	}
	return streamTable[Job](like, text, math.MaxInt64, like.axes(text, len(columns[Job]())), new(int))
}

// SameRows is the text in Found for a Parquet file whose bytes differ although its rows are
// the same.
const SameRows = "different bytes, but the same rows"

// Different compares the files of d with the files of made, which contains the correct results.
// It skips files for which leave returns true. It returns the first difference in each file;
// for a table, the difference includes the row and the column. All files must match their
// manifests.
func (d *Dir) Different(made *Dir, leave func(name string) bool) (changes []Change, err error) {
	all := maps.Clone(d.Manifest.Outputs)
	maps.Copy(all, made.Manifest.Outputs)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		found, ok := d.Manifest.Outputs[name]
		want, wanted := made.Manifest.Outputs[name]
		switch {
		case leave(name) || ok && found == want:
		case !ok:
			changes = append(changes, Change{name, "no entry in " + manifestName, "one"})
		case !wanted:
			changes = append(changes, Change{name, "an entry in " + manifestName, "no such file, because runs do not write this file"})
		default:
			c, err := d.first(made, name)
			if err != nil {
				return nil, err
			}
			if c != (Change{}) {
				changes = append(changes, c)
			}
		}
	}
	return append(changes, d.manifestDiffers(made)...), nil
}

// first returns the first difference of a file.
func (d *Dir) first(made *Dir, name string) (Change, error) {
	switch filepath.Ext(name) {
	case csvKind:
		if c, err := d.firstCell(made, name); err != nil || c != (Change{}) {
			return c, err
		}
	case parquetKind:
		like, other := d.Unchecked(), made.Unchecked()
		switch strings.TrimSuffix(name, parquetKind) {
		case "jobs":
			return firstRow[Job](like, other, name), nil
		case "prices":
			return firstRow[Price](like, other, name), nil
		case "metrics":
			return firstRow[Metric](like, other, name), nil
		}
	}
	if name == indexName {
		return d.firstField(made, name)
	}
	return d.firstByte(made, name)
}

// firstField returns the first field of units.json that differs. It ignores the program
// version.
func (d *Dir) firstField(made *Dir, name string) (Change, error) {
	var both [2]any
	for i, of := range []*Dir{d, made} {
		text, err := whole.Read(of.file(name), maxTable)
		if err != nil {
			return Change{}, err
		}
		if both[i], err = jsonTree(json.NewDecoder(bytes.NewReader(text)), ""); err != nil {
			return Change{name, err.Error(), "the bytes that the index of the units describes"}, nil
		}
		if all, ok := both[i].(map[string]any); ok {
			if plan, ok := all["plan"].(map[string]any); ok {
				delete(plan, "version")
			}
		}
	}
	field, found, want := fieldDiffers(both[0], both[1], "")
	if field == "" {
		field, want, found = fieldDiffers(both[1], both[0], "")
	}
	if field == "" {
		return Change{}, nil
	}
	return Change{name, fmt.Sprintf("%s %.80s", field, fmt.Sprint(found)), fmt.Sprintf("%.80s", fmt.Sprint(want))}, nil
}

func (d *Dir) both(made *Dir, name string, compare func(a, b io.Reader) Change) (Change, error) {
	a, err := whole.Open(d.file(name))
	if err != nil {
		return Change{}, err
	}
	defer a.Close()
	b, err := whole.Open(made.file(name))
	if err != nil {
		return Change{}, err
	}
	defer b.Close()
	return compare(a, b), nil
}

func (d *Dir) firstCell(made *Dir, name string) (Change, error) {
	return d.both(made, name, func(a, b io.Reader) Change {
		one, other := csv.NewReader(a), csv.NewReader(b)
		one.FieldsPerRecord, other.FieldsPerRecord = -1, -1
		one.ReuseRecord, other.ReuseRecord = true, true
		var header []string
		for row := 1; ; row++ {
			found, err := one.Read()
			want, end := other.Read()
			if row == 1 {
				header = slices.Clone(want)
			}
			at := fmt.Sprintf("row %d", row)
			switch {
			case err == io.EOF && end == io.EOF:
				return Change{} // no cell differs, only quotes or line ends
			case err == io.EOF:
				return Change{name, at + ": none", strings.Join(want, ",")}
			case err != nil && !errors.Is(err, csv.ErrFieldCount):
				return Change{name, at + ": " + err.Error(), strings.Join(want, ",")}
			case end == io.EOF:
				return Change{name, at + ": one more", "none"}
			case len(found) != len(want):
				return Change{name, fmt.Sprintf("%s: %d cells", at, len(found)), fmt.Sprint(len(want))}
			}
			for i := range want {
				if found[i] != want[i] {
					return Change{name, fmt.Sprintf("%s, column %s: %.60q", at, header[i], found[i]), fmt.Sprintf("%.60q", want[i])}
				}
			}
		}
	})
}

func firstRow[R any](d, made *Dir, name string) Change {
	table := strings.TrimSuffix(name, parquetKind)
	if c := rowsDiffer(name, rowsOf[R](d, table, nil, nil), rowsOf[R](made, table, nil, nil)); c != (Change{}) {
		return c
	}
	return Change{name, SameRows, "the columns that a run writes"}
}

// rowsDiffer returns the first row and column in which the rows of a file differ from the
// correct rows.
func rowsDiffer[R any](name string, rows, made iter.Seq2[R, error]) Change {
	next, stop := iter.Pull2(made)
	defer stop()
	row := 0
	for found, err := range rows {
		row++
		if err != nil {
			return Change{name, err.Error(), "a readable table"}
		}
		want, err, ok := next()
		if err != nil || !ok {
			return Change{name, fmt.Sprintf("row %d: one more", row), "none"}
		}
		if column, x, y := Differ(&found, &want); column != "" {
			return Change{name, fmt.Sprintf("row %d, column %s: %s", row, column, x), y}
		}
	}
	if _, _, ok := next(); ok {
		return Change{name, fmt.Sprintf("row %d: none", row+1), "one"}
	}
	return Change{}
}

// TwoForms returns the first difference between the rows of jobs.parquet and jobs.csv. It
// returns no difference unless d has both files. It supports all formats.
func (d *Dir) TwoForms() Change {
	if d.Manifest.Outputs["jobs"+parquetKind].SHA256 == "" || d.Manifest.Outputs["jobs"+csvKind].SHA256 == "" {
		return Change{}
	}
	switch d.Manifest.Format {
	case 1:
		return twoForms[job1](d.Unchecked())
	case 2, 3:
		return twoForms[job3](d.Unchecked())
	}
	return twoForms[Job](d.Unchecked())
}

func twoForms[R any](d *Dir) Change {
	packed, text, own := "jobs"+parquetKind, "jobs"+csvKind, len(columns[R]())
	c := rowsDiffer(packed, readParquet[R](d, packed, d.axes(packed, own), nil, new(int)), streamTable[R](d, text, math.MaxInt64, d.axes(text, own), new(int)))
	if c != (Change{}) {
		c.Want += ", as in " + text
	}
	return c
}

// firstByte returns the position of the first byte that differs. If the file is text, it
// also returns the line.
func (d *Dir) firstByte(made *Dir, name string) (Change, error) {
	return d.both(made, name, func(a, b io.Reader) Change {
		one, other := bufio.NewReader(a), bufio.NewReader(b)
		line, at := 1, 0
		for ; ; at++ {
			x, err := one.ReadByte()
			y, end := other.ReadByte()
			if err != nil || end != nil || x != y {
				break
			}
			if x == '\n' {
				line++
			}
		}
		where := fmt.Sprintf("line %d, byte %d", line, at+1)
		if slices.Contains([]string{".values", ".png"}, filepath.Ext(name)) {
			where = fmt.Sprintf("byte %d", at+1)
		}
		return Change{name, where + ": another byte", "the same bytes as a run writes for this scenario and these rows"}
	})
}

// manifestDiffers returns the manifest fields that differ from the fields of made. It
// ignores the command, the wall time, the program version and the claims.
func (d *Dir) manifestDiffers(made *Dir) (changes []Change) {
	a, b := &d.Manifest, &made.Manifest
	for _, f := range []struct {
		name        string
		found, want any
	}{
		{"scenario", a.Scenario, b.Scenario}, {"seed", a.Seed, b.Seed}, {"replications", a.Replications, b.Replications}, {"ledgers", a.Ledgers, b.Ledgers},
		{"alike", a.Alike, b.Alike}, {"columns", a.Columns, b.Columns}, {"inputs", a.Inputs, b.Inputs},
	} {
		x, err := json.Marshal(f.found)
		y, wrong := json.Marshal(f.want)
		if err != nil || wrong != nil || !bytes.Equal(x, y) {
			changes = append(changes, Change{manifestName, fmt.Sprintf("%s %.80s", f.name, x), fmt.Sprintf("%.80s", y)})
		}
	}
	return changes
}
