package results

import (
	"fmt"
	"slices"

	"bourse/workloadgen/plugin"
)

// Tables specifies the file formats of the large tables, jobs and prices.
type Tables uint8

// The forms. Metrics are always stored.
const (
	Both    Tables = iota // jobs as CSV and Parquet, prices as Parquet, metrics as CSV
	Parquet               // all tables as Parquet
	CSV                   // all tables as CSV
	None                  // only metrics
)

var forms = []string{"both", "parquet", "csv", "none"}

// String returns the name of t, which [ParseTables] reads.
func (t Tables) String() string { return forms[t] }

// ParseTables returns the Tables with the given name.
func ParseTables(s string) (Tables, error) {
	if i := slices.Index(forms, s); i >= 0 {
		return Tables(i), nil
	}
	return 0, fmt.Errorf("%s", plugin.Unknown(s, forms))
}

func (t Tables) jobs() []string {
	return [][]string{{csvKind, parquetKind}, {parquetKind}, {csvKind}, nil}[t]
}
func (t Tables) metrics() []string {
	if t == Parquet {
		return []string{parquetKind}
	}
	return []string{csvKind}
}

func (t Tables) prices() []string { return [][]string{{parquetKind}, {parquetKind}, {csvKind}, nil}[t] }
