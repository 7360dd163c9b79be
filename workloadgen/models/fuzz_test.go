package models

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	second "go.yaml.in/yaml/v4"
)

// FuzzReadFile checks that no model file makes the reader panic or run for long. Every accepted
// file must have the same meaning for a second reader of YAML, be the same after it is written
// and read again, and either create a model or return an error with the reason.
func FuzzReadFile(f *testing.F) {
	f.Add("about: !x\n000: #0") // the decoder panics
	f.Add("model: paper\n")
	f.Add("about: [x]\nmodel: independent\noptions:\n  iat: {name: hypweib, options: {alpha: 0.2}}\n")
	f.Add("model: lublin\noptions: {change: {umed: 4.02}, sizes: {rule: drop, hosts: 9}}\n")
	f.Add("model: independent\noptions: {iat: {name: weibull, options: {scale: 1e3, shape: '1e3'}}, jobs: 1.5}\n")
	f.Add("about: ['a: b', ' x', \"x\\r\", '?', '1e3', 'yes', '017', ~, 1.50, \"x\\ty\\nz\\n\"]\nmodel: paper\noptions: {jobs: 1_000}\n")
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		hang := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("%q takes for ever", text)) })
		defer hang.Stop()
		name := filepath.Join(t.TempDir(), "model.yaml")
		read := func(text []byte) (File, error) {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
			return ReadFile(name)
		}
		file, err := read([]byte(text))
		if err != nil {
			return
		}
		var other struct {
			About   []string
			Model   string
			Options map[string]any
		}
		if err := second.Unmarshal([]byte(text), &other); err != nil {
			t.Fatalf("%q is %+v, which another reader refuses: %v", text, file, err)
		}
		if !reflect.DeepEqual(numbers(file.Options), numbers(other.Options)) || file.Model != other.Model || fmt.Sprintf("%q", file.About) != fmt.Sprintf("%q", other.About) {
			t.Fatalf("%q is %#v, want %#v", text, file, other)
		}
		var out bytes.Buffer
		if err := file.Write(&out); err != nil {
			t.Fatal(err)
		}
		again, err := read(out.Bytes())
		if err != nil || again.Model != file.Model || fmt.Sprintf("%q", again.About) != fmt.Sprintf("%q", file.About) || !reflect.DeepEqual(numbers(again.Options), numbers(file.Options)) {
			t.Fatalf("%#v is written\n%s and read as %#v, %v", file, &out, again, err)
		}
		if file.Model == "file" || file.Model == "swf" || file.Model == "resample" {
			return
		}
		if m, err := file.New(); err == nil {
			if _, err := m.Plan(rand.NewPCG(1, 1), 3, nil); err != nil {
				t.Log(err)
			}
		}
	})
}

// numbers returns v with all numbers converted to float64 and without empty values.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = numbers(item)
		}
		return out
	case map[any]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[fmt.Sprint(k)] = numbers(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = numbers(item)
		}
		return out
	}
	switch x := reflect.ValueOf(v); {
	case x.CanInt():
		return float64(x.Int())
	case x.CanUint():
		return float64(x.Uint())
	case x.CanFloat():
		return x.Float() + 0
	}
	return v
}
