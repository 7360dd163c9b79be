package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"bourse/workloadgen/config"
)

// FuzzParse checks that any input is rejected with an Error, or is the same after being
// printed and read again, also by another YAML reader.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small), "replications=3")
	f.Add([]byte(swept), "sweep.hosts.values=[2, 3]")
	f.Add([]byte("preset: paper\nconfigurations: [low]\n"), "configurations.low.admission.be.x=1")
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range append(overrides(string(data)), "base.market.forecaster={name: normal}") {
			f.Add(data, s)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, override string) {
		hang := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("%q with %q takes for ever", data, override)) })
		defer hang.Stop()
		known := names()
		known.Presets = presets()
		e, err := Parse("fuzz.yaml", data, known, override)
		var mistake *config.Error
		if errors.As(err, &mistake) {
			return
		}
		if err != nil {
			t.Fatalf("error = %v, want an Error", err)
		}
		text := write(t, e)
		again, err := Parse("again.yaml", text, names())
		if err != nil {
			t.Fatalf("%v, of\n%s", err, text)
		}
		if got := write(t, again); !bytes.Equal(got, text) {
			t.Fatalf("printed again: %s\nwant %s", got, text)
		}
		var ours, theirs any
		if err := errors.Join(config.Read("again.yaml", text, &ours), yaml.Unmarshal(text, &theirs)); err != nil || fmt.Sprint(ours) != fmt.Sprint(theirs) {
			t.Errorf("printed %s: read as %v, by another reader as %v, %v", text, ours, theirs, err)
		}
	})
}
