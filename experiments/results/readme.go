package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tableColumns returns the columns of every table, by file.
func tableColumns() map[string][]Column {
	return map[string][]Column{
		"jobs.parquet":   columns[Job](),
		"jobs.csv":       columns[Job](),
		"prices.parquet": columns[Price](),
		"metrics.csv":    columns[Metric](),
		"summary.csv":    columns[Summary](),
		"curve.csv":      columns[Point](),
	}
}

// readme describes the tables in words.
func readme(tables map[string][]Column) []byte {
	var b strings.Builder
	b.WriteString(`Results of a bourse experiment. manifest.json says how they were made, how to
make them again, and the sha256 of every file here.

Instants and spans are seconds, money is dollars. A cell that does not apply is
empty in CSV and null in Parquet. A text cell of a CSV file that begins with an
apostrophe has it removed when read: it keeps spreadsheets from taking the text
for a formula.
`)
	for _, file := range slices.Sorted(maps.Keys(tables)) {
		fmt.Fprintf(&b, "\n%s\n", file)
		for _, c := range tables[file] {
			fmt.Fprintf(&b, "  %-14s %-8s %s\n", c.Name, c.Type, c.Doc)
		}
	}
	return []byte(b.String())
}
