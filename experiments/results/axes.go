package results

import (
	"bytes"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Axes are the columns that a sweep adds at the end of every table. They contain the value
// of each row's configuration on each axis.
type Axes []Column

// Spot splits a configuration's name in a sweep, NAME@VALUE,VALUE, into the name and the
// value on each axis. Without a sweep, there are no values.
func Spot(configuration string) (name string, values []string) {
	name, spot, ok := strings.Cut(configuration, "@")
	if ok {
		values = strings.Split(spot, ",")
	}
	return name, values
}

// Axis adds the column for an axis with the given name and values. The type of the column is
// number if all values are numbers, and text if not. The column has the name of the axis,
// unless SQL does not allow this name or a table already has a column with this name. Axis then
// changes the name.
func (a *Axes) Axis(name string, values []string) {
	c := Column{Name: strings.Trim(unnamed.ReplaceAllString(strings.ToLower(name), "_"), "_"), Type: kinds[number], Doc: "of the configuration: " + name, kind: number}
	for _, v := range values {
		if _, err := strconv.ParseFloat(v, 64); err != nil || hexadecimal(v) {
			c.Type, c.kind = kinds[text], text
		}
	}
	taken := func(t []Column) bool {
		return slices.ContainsFunc(t, func(o Column) bool { return o.Name == c.Name })
	}
	for taken(*a) || taken(columns[Job]()) || taken(columns[Price]()) || taken(columns[Metric]()) || taken(columns[Summary]()) || taken(columns[Point]()) || c.Name == "" {
		c.Name += "_axis"
	}
	*a = append(*a, c)
}

var unnamed = regexp.MustCompile(`[^a-z0-9]+`)

// An along writes the cells of the axes for one table.
type along struct {
	axes          Axes
	configuration string
	cells         cells // cells of this configuration

	packed bytes.Buffer
	rows   *parquet.GenericWriter[any]
}

// A cells contains the axis cells of one configuration.
type cells struct {
	text []string // for CSV
	row  parquet.Row
}

// at returns the axis cells of a configuration.
func (a *along) at(configuration string) cells {
	if configuration == a.configuration && a.cells.row != nil {
		return a.cells
	}
	a.configuration, a.cells = configuration, cells{}
	_, values := Spot(configuration)
	for i, c := range a.axes {
		word := ""
		if i < len(values) {
			word = values[i]
		}
		text, cell := SafeText(word), parquet.ByteArrayValue([]byte(word))
		if c.kind == number {
			x, _ := strconv.ParseFloat(word, 64) // Axis has checked that word is a number
			cell = parquet.DoubleValue(x)
			text = strconv.FormatFloat(x, 'g', -1, 64)
		}
		a.cells.text, a.cells.row = append(a.cells.text, text), append(a.cells.row, cell.Level(0, 0, i))
	}
	return a.cells
}

// pack creates the writer of the Parquet file for the axis columns.
func (a *along) pack(codec codec) {
	fields := make([]reflect.StructField, len(a.axes))
	for i, c := range a.axes {
		of := reflect.TypeFor[string]()
		if c.kind == number {
			of = reflect.TypeFor[float64]()
		}
		fields[i] = reflect.StructField{Name: "A" + strconv.Itoa(i), Type: of, Tag: reflect.StructTag(`parquet:"` + c.Name + `,dict"`)}
	}
	a.packed.Reset()
	a.rows = parquet.NewGenericWriter[any](&a.packed, parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()), parquet.MaxRowsPerRowGroup(rowsPerGroup), parquet.Compression(codec))
}

// beside returns a Parquet file with the columns of both files. The two files must have the
// same row groups.
func beside(one, other []byte) ([]byte, error) {
	end, meta, err := foot(one)
	if err != nil {
		return nil, err
	}
	last, more, err := foot(other)
	if err != nil {
		return nil, err
	}
	if len(meta.RowGroups) != len(more.RowGroups) || meta.NumRows != more.NumRows {
		return nil, errors.New("the axes of a block do not have as many rows as the block")
	}
	meta.Schema[0].NumChildren.V += more.Schema[0].NumChildren.V
	meta.Schema = append(meta.Schema, more.Schema[1:]...)
	meta.ColumnOrders = append(meta.ColumnOrders, more.ColumnOrders...)
	for i := range meta.RowGroups {
		g, h := &meta.RowGroups[i], &more.RowGroups[i]
		shiftGroup(h, end-int64(len(magic)))
		g.Columns = append(g.Columns, h.Columns...)
		g.TotalByteSize += h.TotalByteSize
		g.TotalCompressedSize += h.TotalCompressedSize
	}
	return append(append(one[:end:end], other[len(magic):last]...), footer(meta)...), nil
}
