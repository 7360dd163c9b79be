//go:build duckdb

package results

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
)

// query prints the rows of a query as JSON, with every cell as text.
const query = `
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const db = await (await DuckDBInstance.create()).connect();
  const rows = (await db.runAndReadAll(process.argv[1])).getRows();
  console.log(JSON.stringify(rows.map(row => row.map(cell => cell === null ? null : String(cell)))));
})();`

// TestDuckDB reads the tables with another program. Types, nulls, order and sums of money
// must be as written. It requires node, and @duckdb/node-api on NODE_PATH.
func TestDuckDB(t *testing.T) {
	dir := write(t)
	ask := func(sql string, want ...[]any) {
		t.Helper()
		out, err := exec.Command("node", "-e", query, sql).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var got [][]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
	parquet, csv := "'"+filepath.Join(dir, "jobs.parquet")+"'", "'"+filepath.Join(dir, "jobs.csv")+"'"
	ask(`select typeof(value), typeof(paid), typeof(arrival), typeof("user"), typeof(fulfilled) from `+parquet+" limit 1",
		[]any{"DECIMAL(18,6)", "DECIMAL(18,6)", "DOUBLE", "VARCHAR", "BOOLEAN"})
	ask("select count(*), count(start), count(fulfilled), sum(paid), sum(value) from "+parquet,
		[]any{"3", "2", "2", "1000000000001.950122", "18.250001"})
	ask(`select job, "user", start, penalty, runtime from `+parquet,
		[]any{"j00", "u3", "12.5", "0.000000", "300"},
		[]any{"j01", "u1", nil, nil, "0.3333333333333333"},
		[]any{"-1", `=u,"2"`, "0", "-0.000001", "1e-300"})
	ask("select job, reason, nodes, work_done from "+csv+" where start is not null",
		[]any{"j00", "fits", "4", "1200"}, []any{"'-1", "''quoted'", "1", "0.25"})
	ask("select mean_price, typeof(time) from '"+filepath.Join(dir, "prices.parquet")+"'",
		[]any{"0.0125", "DOUBLE"}, []any{"0", "DOUBLE"})

	grid, _ := swept(t, Both)
	parquet, csv = "'"+filepath.Join(grid, "jobs.parquet")+"'", "'"+filepath.Join(grid, "jobs.csv")+"'"
	for _, table := range []string{parquet, csv} {
		ask(`select hosts_count, work_axis, count(*), count(finish) from `+table+" group by all order by 1, 2",
			[]any{"10", "high", "3", "2"}, []any{"10", "low", "3", "2"}, []any{"20", "high", "3", "2"})
	}
}
