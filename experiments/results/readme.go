package results

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// columnsOf returns the columns of a table file: the columns of the table, followed by the
// axes.
func columnsOf(file string, axes Axes) []Column {
	all := map[string]func() []Column{
		"jobs": columns[Job], "prices": columns[Price], "metrics": columns[Metric], "summary": columns[Summary], "curve": columns[Point],
	}
	return append(all[strings.TrimSuffix(file, filepath.Ext(file))](), axes...)
}

// readme returns a description of the tables in words.
func readme(tables map[string][]Column) []byte {
	var b strings.Builder
	b.WriteString(`This folder contains the results of a bourse experiment. manifest.json describes the origin and the reproduction of these results, and lists the sha256 of every file in this folder.

Times and durations are in seconds, and money is in dollars. A cell that does not apply is empty in
CSV and null in Parquet. If a text cell of a CSV file begins with an apostrophe, remove the
apostrophe when you read the cell. The apostrophe prevents spreadsheets from reading the text as a
formula.`)
	for _, file := range slices.Sorted(maps.Keys(tables)) {
		fmt.Fprintf(&b, "\n%s\n", file)
		for _, c := range tables[file] {
			fmt.Fprintf(&b, "  %-14s %-8s %s\n", c.Name, c.Type, c.Doc)
		}
	}
	return []byte(b.String())
}
