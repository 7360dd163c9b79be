package results

import (
	"encoding/json"
	"strings"
	"testing"
)

// manifests are texts that JSON readers interpret differently, with the error for each.
var manifests = []struct{ text, want string }{
	{`{"kind":"bourse results","kind":"x"}`, "kind: found twice"},
	{`{"kind":"bourse results","Kind":"x"}`, "ind: "},
	{`{"SEED":"3"}`, "SEED: unknown field"},
	{`{"seed":"3","ſeed":"4"}`, "eed: "},
	{`{"outputs":{"a":{"size":1,"sha256":"ff","SHA256":"00"}}}`, "outputs.a."},
	{`{"outputs":{"a":{"size":1},"a":{"size":2}}}`, "outputs.a: found twice"},
	{`{"outputs":{"a":null}}`, "outputs.a: found"},
	{`{"inputs":{"a":"1","a":"2"}}`, "inputs.a: found twice"},
	{`{"version":{"go":"1","modules":{"m":"1","m":"2"}}}`, "version.modules.m: found twice"},
	{`{"columns":{"jobs.csv":[{"name":"a","Name":"b"}]}}`, "columns.jobs.csv.0."},
	{`{"colour":"red"}`, "colour: unknown field"},
	{"{\"scenario\":\"\xff\"}", "not UTF-8"},
	{`{"scenario":"\ud800"}`, "want unescaped characters"},
	{`{"scenario":"\\\uDFFF"}`, "want unescaped characters"},
	{`{"replications":1e1}`, "cannot unmarshal"},
	{`{"format":1}]`, "invalid character"},
}

// TestManifestStrict checks that manifests that JSON readers interpret differently are
// refused.
func TestManifestStrict(t *testing.T) {
	t.Parallel()
	for _, c := range manifests {
		var m Manifest
		err := json.Unmarshal([]byte(c.text), &m)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, error %v, want %s", c.text, m, err, c.want)
		}
	}
	var m Manifest
	if err := json.Unmarshal([]byte(`{"format": 1, "kind": "bourse results", "seed": "7", "inputs": {"a": "1", "A": "2"}, "wall_seconds": 1.50, "scenario": "\\ud800"}`), &m); err != nil || m.Seed != 7 || m.Inputs["A"] != "2" || m.WallSeconds != 1.5 {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestCSVStrict checks that cells that programs interpret differently are refused.
func TestCSVStrict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cell, want string }{
		{"0x1p4", `"0x1p4", want a finite number`},
		{"0x_1p4", "want a finite number"},
		{"1_000", "want a finite number"},
		{"1e400", "want a finite number"},
		{"NaN", "want a finite number"},
		{`"1,5"`, "want a finite number"},
		{"\"1\n\"", "want a finite number"},
		{"1,5", "7 cells, want 6"},
	} {
		var err error
		for _, e := range readCSV[Metric]("metrics.csv", strings.NewReader("configuration,admission,replication,metric,value,trials\na,b,0,m,"+c.cell+",\n"), nil) {
			err = e
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %s", c.cell, err, c.want)
		}
	}
	for cell, want := range map[string]string{"'=1": "=1", "''x": "'x", "'x": "", "=1": "", "-a": "", "x'": "x'"} {
		var got string
		for row, err := range readCSV[Metric]("metrics.csv", strings.NewReader("configuration,admission,replication,metric,value,trials\n"+cell+",b,0,m,,\n"), nil) {
			if (err == nil) != (want != "") {
				t.Errorf("%s: error %v", cell, err)
			}
			got = row.Configuration
		}
		if got != want {
			t.Errorf("%s is read as %q, want %q", cell, got, want)
		}
	}
}
