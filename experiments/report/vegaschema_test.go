package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// vegaSchemas returns the Vega-Lite schemas in the files listed in VEGA_LITE. The nightly
// part vega gets them from npm.
func vegaSchemas(t *testing.T) (all []*jsonschema.Schema) {
	t.Helper()
	files := filepath.SplitList(strings.TrimSuffix(os.Getenv("VEGA_LITE"), ":"))
	if len(files) == 0 {
		t.Skip("VEGA_LITE lists no schemas of Vega-Lite: the nightly part vega does")
	}
	for _, file := range files {
		schema, err := jsonschema.NewCompiler().Compile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, schema)
	}
	return all
}

// TestVegaSchema checks that figures of every kind, and each file that matches the pattern
// VEGA_LITE_FILES, are valid under Vega-Lite's own schemas, and that these schemas reject an
// invalid mark.
func TestVegaSchema(t *testing.T) {
	t.Parallel()
	schemas := vegaSchemas(t)
	texts := map[string][]byte{}
	for _, f := range vegaFigures() {
		texts[f.Title] = f.vega()
	}
	files, err := filepath.Glob(os.Getenv("VEGA_LITE_FILES"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if texts[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d specifications, %d schemas", len(texts), len(schemas))
	for _, schema := range schemas {
		for name, text := range texts {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s, by %s: %.2000v", name, schema.Location, err)
			}
		}
		wrong := bytes.ReplaceAll(small().vega(), []byte(`"line"`), []byte(`"lime"`))
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(wrong))
		if err != nil || schema.Validate(v) == nil {
			t.Errorf("%s allows a mark of kind lime, %v", schema.Location, err)
		}
	}
}
