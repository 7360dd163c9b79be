package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/experiments/results"
)

var cells = flag.Int("cells", 24, "number of cells that TestEveryCell changes")

// A forger changes the files of results and adapts the manifest.
type forger struct {
	*testing.T
	dir string
}

// smallRun returns the results of a small run with tables in the given form.
func smallRun(t *testing.T, tables string) forger {
	t.Helper()
	dir := t.TempDir()
	text := `
name: small
base:
  workload: {model: {name: paper, jobs: 12, users: 3}}
configurations: [{name: a, admission: [be, cac]}]
replications: 2
`
	if err := os.WriteFile(filepath.Join(dir, "small.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := bourse(t, t.Context(), "run", filepath.Join(dir, "small.yaml"), "--out", filepath.Join(dir, "r"), "--quiet", "--tables", tables); status != 0 {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	return forger{t, filepath.Join(dir, "r")}
}

// copied returns a copy of the results with hard links to unchanged files.
func (f forger) copied() forger {
	f.Helper()
	to := filepath.Join(f.TempDir(), "r")
	err := filepath.WalkDir(f.dir, func(path string, e fs.DirEntry, err error) error {
		name, wrong := filepath.Rel(f.dir, path)
		if err != nil || wrong != nil || e.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		return os.Link(path, filepath.Join(to, name))
	})
	if err != nil {
		f.Fatal(err)
	}
	return forger{f.T, to}
}

func (f forger) read(name string) []byte {
	f.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.Fatal(err)
	}
	return data
}

// write replaces a file, or removes it if data is nil.
func (f forger) write(name string, data []byte) {
	f.Helper()
	path := filepath.Join(f.dir, name)
	os.Remove(path) // the file may be a hard link
	if data == nil {
		return
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		f.Fatal(err)
	}
}

// manifest passes the manifest to change and stores it.
func (f forger) manifest(change func(m map[string]any)) {
	f.Helper()
	m := make(map[string]any)
	decoder := json.NewDecoder(bytes.NewReader(f.read("manifest.json")))
	decoder.UseNumber()
	if err := decoder.Decode(&m); err != nil {
		f.Fatal(err)
	}
	change(m)
	text, err := json.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	f.write("manifest.json", text)
}

// forge writes a file and stores its size and hash in the manifest.
func (f forger) forge(name string, data []byte) {
	f.Helper()
	f.write(name, data)
	f.manifest(func(m map[string]any) {
		if outputs := m["outputs"].(map[string]any); data == nil {
			delete(outputs, name)
		} else {
			sum := sha256.Sum256(data)
			outputs[name] = map[string]any{"size": len(data), "sha256": hex.EncodeToString(sum[:])}
		}
	})
}

// replaced forges a file in which the first occurrence of old is replaced. It fails if old
// does not occur.
func (f forger) replaced(name, old, new string) {
	f.Helper()
	data := f.read(name)
	if !bytes.Contains(data, []byte(old)) {
		f.Fatalf("%s has no %q", name, old)
	}
	f.forge(name, bytes.Replace(data, []byte(old), []byte(new), 1))
}

// audited returns the output of an audit. If a fault is expected, the audit must find one.
func (f forger) audited(clean bool, args ...string) string {
	f.Helper()
	status, out, errs := bourse(f.T, f.Context(), append([]string{"ledger", "audit", f.dir}, args...)...)
	if want := 3; status != want && !clean || status != 0 && clean {
		f.Errorf("audit %v: exit status %d, clean %v: %s%s", args, status, clean, out, errs)
	}
	return out
}

// cell adds one unit to a cell of a CSV file, or a letter if the cell is not a number. It
// returns the column. It reports whether the cell could be changed.
func (f forger) cell(name string, draw func(n int) int) (column string, ok bool) {
	f.Helper()
	rows, err := csv.NewReader(bytes.NewReader(f.read(name))).ReadAll()
	if err != nil || len(rows) < 2 {
		return "", false
	}
	row, at := 1+draw(len(rows)-1), draw(len(rows[0]))
	text := rows[row][at]
	switch x, err := strconv.ParseFloat(text, 64); {
	case text == "":
		return "", false
	case err == nil && strings.Contains(text, ".") && len(text)-strings.IndexByte(text, '.') == 7: // the text is an amount of money
		text = fmt.Sprintf("%.6f", x+1e-6)
	case err == nil && !strings.ContainsAny(text, ".e"):
		text = strconv.Itoa(int(x) + 1)
	case err == nil:
		text = strconv.FormatFloat(x*(1+1e-12)+1e-15, 'g', -1, 64)
	case text == "true":
		text = "false"
	case text == "false":
		text = "true"
	default:
		text += "x"
	}
	if text == rows[row][at] {
		return "", false
	}
	rows[row][at] = text
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(rows); err != nil {
		f.Fatal(err)
	}
	f.forge(name, b.Bytes())
	return rows[0][at], true
}

// packedCell is like [forger.cell] for a Parquet file with rows of type R, which the
// function encode encodes.
func packedCell[R any](f forger, name string, rows iter.Seq2[R, error], encode func(*results.Encoder, []R) error, draw func(n int) int) (column string, ok bool) {
	f.Helper()
	var all []R
	for row, err := range rows {
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, row)
	}
	row := reflect.ValueOf(&all[draw(len(all))]).Elem()
	at := draw(row.NumField())
	cell := row.Field(at)
	if cell.Kind() == reflect.Pointer {
		if cell.IsNil() {
			return "", false
		}
		cell = cell.Elem()
	}
	switch cell.Kind() {
	case reflect.String:
		cell.SetString(cell.String() + "x")
	case reflect.Bool:
		cell.SetBool(!cell.Bool())
	case reflect.Float64:
		cell.SetFloat(cell.Float()*(1+1e-12) + 1e-15)
	default:
		cell.SetInt(cell.Int() + 1)
	}
	out := results.NewEncoder(results.Parquet, nil)
	if err := encode(out, all); err != nil {
		f.Fatal(err)
	}
	b, err := out.Block()
	if err != nil {
		f.Fatal(err)
	}
	f.forge(name, b[name])
	column, _, _ = strings.Cut(reflect.TypeFor[R]().Field(at).Tag.Get("parquet"), ",")
	return column, true
}

// anyCell is like [forger.cell] for a table in any form.
func (f forger) anyCell(name string, draw func(n int) int) (column string, ok bool) {
	f.Helper()
	d, err := results.Open(f.dir)
	if err != nil {
		f.Fatal(err)
	}
	switch d := d.Unchecked(); name {
	case "jobs.parquet":
		return packedCell(f, name, d.Jobs(nil, nil), (*results.Encoder).Jobs, draw)
	case "prices.parquet":
		return packedCell(f, name, d.Prices(nil), (*results.Encoder).Prices, draw)
	case "metrics.parquet":
		return packedCell(f, name, d.EachMetric(), (*results.Encoder).Metrics, draw)
	}
	return f.cell(name, draw)
}

// TestEveryCell adds one unit to a cell of a table and stores the new hash in the manifest.
// The audit must name the file and the column. If jobs are stored in one form only, and for
// prices, a deep audit must find the change.
func TestEveryCell(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	both, text, packed := smallRun(t, "both"), smallRun(t, "csv"), smallRun(t, "parquet")
	for n := 0; n < *cells; {
		from, args := both, []string{"--quiet"}
		switch n % 8 {
		case 0:
			from, args = text, append(args, "--deep")
		case 1:
			from, args = packed, append(args, "--deep")
		}
		var files []string
		for _, of := range []string{"*.csv", "*.parquet", "figures/*.csv"} {
			found, err := filepath.Glob(filepath.Join(from.dir, of))
			if err != nil || len(found) == 0 && (of != "*.parquet" || n%8 > 0) {
				t.Fatal(of, found, err)
			}
			files = append(files, found...)
		}
		name, err := filepath.Rel(from.dir, files[rng.IntN(len(files))])
		if err != nil {
			t.Fatal(err)
		}
		f := from.copied()
		column, ok := f.anyCell(name, rng.IntN)
		if !ok {
			continue
		}
		if name == "prices.parquet" && from == both {
			args = append(args, "--deep")
		}
		n++
		said := f.audited(false, args...)
		if !strings.Contains(said, name) || !strings.Contains(said, "column "+column) {
			t.Errorf("%s, column %s: the audit does not name both:\n%s", name, column, said)
		}
	}
}

// TestNumbers changes one file of the results at a time and adapts the manifest. The audit
// must name the file and the position.
func TestNumbers(t *testing.T) {
	t.Parallel()
	whole := smallRun(t, "both")
	if said := whole.audited(true); strings.Count(said, "\n") > 25 || !strings.Contains(said, "--deep") {
		t.Errorf("an audit of results that are as they should be prints\n%s", said)
	}
	if said := whole.audited(true, "--deep", "--quiet"); said != "" {
		t.Errorf("a deep audit of results that are as they should be prints\n%s", said)
	}
	figure, err := filepath.Glob(filepath.Join(whole.dir, "figures", "*.svg"))
	if err != nil || len(figure) == 0 {
		t.Fatal(err)
	}
	svg := "figures/" + filepath.Base(figure[0])
	seed := func(f forger, name string) {
		f.Helper()
		f.replaced(name, "seed: 1 #", "seed: 2 #")
	}
	values := func(name string) func(f forger) {
		return func(f forger) {
			data := bytes.Clone(f.read(name))
			data[len(data)/2] ^= 1
			f.forge(name, data)
		}
	}
	var outputs map[string]any
	whole.manifest(func(m map[string]any) { outputs = m["outputs"].(map[string]any) })
	for name := range outputs { // the test covers every file that a run writes
		if strings.HasPrefix(name, "ledger/") {
			continue
		}
		f := whole.copied()
		values(name)(f)
		if said := f.audited(false, "--quiet"); !strings.Contains(said, strings.TrimSuffix(name, filepath.Ext(name))) {
			t.Errorf("%s, a byte of which is changed: the audit does not name it:\n%s", name, said)
		}
	}
	for name, c := range map[string]struct {
		change func(f forger)
		want   string
	}{
		"page":               {func(f forger) { f.replaced("report.html", "</body>", "<script>1</script></body>") }, "report.html: found line"},
		"number on the page": {func(f forger) { f.replaced("report.html", "0.", "1.") }, "report.html: found line"},
		"figure":             {func(f forger) { f.replaced(svg, "<path", "<!-- --><path") }, svg + ": found line"},
		"README":             {func(f forger) { f.replaced("README.txt", "seconds", "minutes") }, "README.txt: found line"},
		"units":              {values("units.values"), "units."},
		"index":              {func(f forger) { f.replaced("units.json", `"from":`, `"from": `) }, ""},
		"span":               {func(f forger) { f.replaced("units.json", `"to":`, `"to":1`) }, "units.json"},
		"plan of units":      {func(f forger) { f.replaced("units.json", `"replications":2`, `"replications":3`) }, "units.json"},
		"garbage":            {func(f forger) { f.forge("jobs.parquet", []byte("garbage\n")) }, "jobs.parquet"},
		"garbled":            {values("jobs.parquet"), "jobs.parquet"},
		"prices":             {values("prices.parquet"), "prices.parquet"},
		"runtime": {func(f forger) {
			for {
				if column, ok := f.cell("jobs.csv", func(n int) int { return min(6, n-1) }); ok || column == "runtime" {
					return
				}
			}
		}, "jobs.csv: found row 8, column runtime"},
		"seed": {func(f forger) { seed(f, "scenario.yaml") }, "scenario.yaml: found line"},
		"no entry of the manifest": {func(f forger) {
			f.manifest(func(m map[string]any) { delete(m["outputs"].(map[string]any), "curve.csv") })
		}, "curve.csv: found no entry"},
		"a file too many":   {func(f forger) { f.forge("more.csv", []byte("a\n1\n")) }, "more.csv: found an entry"},
		"a figure too many": {func(f forger) { f.forge("figures/more.svg", []byte("<svg/>")) }, "figures/more.svg: found an entry"},
		"a file too few":    {func(f forger) { f.forge("summary.csv", nil) }, "summary.csv: found no entry"},
		"no index":          {func(f forger) { f.forge("units.json", nil) }, "units.json"},
		"a missing file":    {func(f forger) { f.write("summary.csv", nil) }, "summary.csv: found no file"},
		"row too many":      {func(f forger) { f.forge("metrics.csv", append(f.read("metrics.csv"), "a,be,0,violations,1,1\n"...)) }, "metrics.csv: found row"},
		"row too few": {func(f forger) {
			f.forge("jobs.csv", f.read("jobs.csv")[:bytes.LastIndexByte(bytes.TrimSpace(f.read("jobs.csv")), '\n')+1])
		}, "jobs.csv"},
		"replications": {func(f forger) { f.manifest(func(m map[string]any) { m["replications"] = 7 }) }, "manifest.json: found replications"},
		"alike":        {func(f forger) { f.manifest(func(m map[string]any) { m["alike"] = []string{"a"} }) }, "manifest.json: found alike"},
		"seed everywhere": {func(f forger) {
			seed(f, "scenario.yaml")
			f.replaced("units.json", `seed: 1 #`, `seed: 2 #`)
			f.manifest(func(m map[string]any) {
				text := strings.Replace(m["scenario"].(string), "seed: 1 #", "seed: 2 #", 1)
				sum := sha256.Sum256([]byte(text))
				m["scenario"], m["seed"], m["scenario_sha256"] = text, "2", hex.EncodeToString(sum[:])
			})
		}, "derived from scenario and seed"},
	} {
		f := whole.copied()
		c.change(f)
		if said := f.audited(c.want == "", "--quiet"); !strings.Contains(said, c.want) {
			t.Errorf("%s: the audit prints no %q:\n%s", name, c.want, said)
		}
	}
}

// TestOlderNumbers changes results with other rules than those of this version. The audit
// must compare jobs.parquet with jobs.csv and summary.csv with metrics.csv, and list the
// rest as not compared.
func TestOlderNumbers(t *testing.T) {
	t.Parallel()
	whole := smallRun(t, "both")
	whole.manifest(func(m map[string]any) { m["rules"] = 1 }) // the rules for which charges in the ledgers differ
	if said := whole.audited(false); !strings.Contains(said, whole.dir+": clean\n") || !strings.Contains(said, "not detectable here: jobs, metrics,") {
		t.Errorf("an audit of older results prints\n%s", said)
	}
	for name, columns := range map[string][]string{"jobs.parquet": {"share", "paid"}, "summary.csv": {"n", "mean"}} {
		for _, column := range columns {
			for {
				f := whole.copied()
				if changed, ok := f.anyCell(name, rand.IntN); !ok || changed != column {
					continue
				}
				if said := f.audited(false, "--quiet"); !strings.Contains(said, name+": found row ") || !strings.Contains(said, "column "+column) {
					t.Errorf("%s, column %s: the audit does not name both:\n%s", name, column, said)
				}
				break
			}
		}
	}
}

// TestForgedNotes changes a number in the note of a decision. The ledger is written again
// with a matching manifest. A deep audit must name the ledger, the entry and the number.
func TestForgedNotes(t *testing.T) {
	t.Parallel()
	whole := smallRun(t, "both")
	const key = "ledger/a/cac/0"
	kinds := make(map[string]int64) // entry keyed by kind and number
	eachEntry(t, filepath.Join(whole.dir, key), func(e *bank.Entry) {
		var note map[string]any
		if json.Unmarshal(e.Note, &note) != nil {
			return
		}
		for name, x := range note {
			if _, ok := x.(float64); ok {
				kinds[e.Kind.String()+" "+name] = e.Seq
			}
		}
	})
	if len(kinds) < 7 {
		t.Errorf("found numbers of notes %v, want more", kinds)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		f := whole.copied()
		_, number, _ := strings.Cut(kind, " ")
		f.reledger(key, func(e *bank.Entry) {
			if e.Seq == kinds[kind] {
				var note map[string]json.RawMessage
				if err := json.Unmarshal(e.Note, &note); err != nil {
					t.Fatal(err)
				}
				was := `"` + number + `":` + string(note[number])
				e.Note = bytes.Replace(e.Note, []byte(was), []byte(was+"1"), 1)
				if !strings.Contains(was, ".") {
					e.Note = bytes.Replace(e.Note, []byte(was+"1"), []byte(was+".5"), 1)
				}
			}
		})
		said := f.audited(false, "--deep", "--quiet")
		if want := fmt.Sprintf("%s: found entry %d,", key, kinds[kind]); !strings.Contains(said, want) || !strings.Contains(said, number+": ") {
			t.Errorf("%s: the audit prints no %q with %s:\n%s", kind, want, number, said)
		}
	}
}

// eachEntry calls do for each entry of a ledger.
func eachEntry(t *testing.T, dir string, do func(e *bank.Entry)) {
	t.Helper()
	r, err := store.OpenReader(dir, store.Options{Reproducible: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e := range r.Entries() {
		do(e)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
}

// reledger writes a ledger of the results again with the entries returned by change. It
// adapts the manifest and units.json.
func (f forger) reledger(key string, change func(e *bank.Entry)) {
	f.Helper()
	dir, anew := filepath.Join(f.dir, key), f.TempDir()
	j, err := store.Create(anew, store.Options{Reproducible: true})
	if err != nil {
		f.Fatal(err)
	}
	eachEntry(f.T, dir, func(e *bank.Entry) {
		change(e)
		if err := j.Append(e); err != nil {
			f.Fatal(err)
		}
	})
	if err := j.Close(); err != nil {
		f.Fatal(err)
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range old {
		f.forge(key+"/"+e.Name(), nil)
	}
	files, err := os.ReadDir(anew)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range files {
		data, err := os.ReadFile(filepath.Join(anew, e.Name()))
		if err != nil {
			f.Fatal(err)
		}
		f.forge(key+"/"+e.Name(), data)
	}
	var was string
	f.manifest(func(m map[string]any) {
		heads := m["ledgers"].(map[string]any)
		was, heads[key] = heads[key].(string), j.Head().String()
	})
	f.replaced("units.json", was, j.Head().String())
}

// TestInputs changes one digit of the log that a run has read. Commands that read the log
// again must name the file and both hashes and print no result.
func TestInputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, out := filepath.Join(dir, "log.swf"), filepath.Join(dir, "r")
	var records strings.Builder
	for i := range 12 {
		fmt.Fprintf(&records, "%d %d 0 50 1 -1 -1 1 100 -1 1 %d 1 1 1 -1 -1 -1\n", i+1, 10*i, i%3+1)
	}
	text := "name: small\nbase:\n  workload: {swf: " + log + ", annotate: {price: 0.01}}\n  admission: [be, cac]\nconfigurations: [{name: a}]\nreplications: 1\n"
	for name, data := range map[string]string{log: records.String(), filepath.Join(dir, "small.yaml"): text} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, errs := bourse(t, t.Context(), "run", filepath.Join(dir, "small.yaml"), "--out", out, "--quiet"); status != 0 {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	commands := [][]string{
		{"explain", out, "--run", "a/cac/0", "--job", "3"},
		{"replay", out, "--run", "a/be/0", "--admission", "cac"},
		{"advise", out, "--job", "work=100,nodes=1,deadline=500,value=2", "--reservation", "cac"},
		{"workload", "schedule", out, "--run", "a/be/0"},
		{"workload", "schedule", out, "--run", "a/be/0", "--trace", log},
	}
	for _, args := range commands {
		if status, said, errs := bourse(t, t.Context(), args...); status != 0 || said == "" {
			t.Errorf("%v: exit status %d: %s", args, status, errs)
		}
	}
	if err := os.WriteFile(log, []byte(strings.Replace(records.String(), " 50 ", " 51 ", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range commands {
		status, said, errs := bourse(t, t.Context(), args...)
		if status != 1 || said != "" || !strings.Contains(errs, log+": found sha256 ") {
			t.Errorf("%v of a log that has changed: exit status %d, prints %q and %q", args, status, said, errs)
		}
	}
	status, said, errs := bourse(t, t.Context(), "ledger", "audit", out)
	if status != 0 || !strings.Contains(said, "not detectable here: the plan of jobs, and decisions: "+log+": found sha256 ") {
		t.Errorf("audit: exit status %d: %s%s", status, said, errs)
	}
}
