package results

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// tableColumns returns the columns of every table of those files.
func tableColumns(files []*file) map[string][]Column {
	all := map[string][]Column{
		"jobs": columns[Job](), "prices": columns[Price](), "metrics": columns[Metric](),
		"summary": columns[Summary](), "curve": columns[Point](),
	}
	found := make(map[string][]Column)
	for _, f := range files {
		found[f.name] = all[strings.TrimSuffix(f.name, filepath.Ext(f.name))]
	}
	return found
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
