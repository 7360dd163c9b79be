package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"bourse/experiments/report"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var rewriteSchemas = flag.Bool("schemas", false, "write testdata/schemas.txt anew")

// checkedMain is like main, but it compares the output of commands for programs with their
// schemas. If the output does not match, the exit status is 99.
func checkedMain() {
	name, o, ok := forPrograms(os.Args[1:])
	if !ok {
		main()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var printed bytes.Buffer
	status := run(ctx, os.Args, os.Stdin, io.MultiWriter(os.Stdout, &printed), os.Stderr)
	stop()
	if status == statusDone || printed.Len() > 0 {
		if err := meets(o, name, printed.Bytes()); err != nil {
			fmt.Fprintf(os.Stderr, "%s: not as its schema says: %v\n", name, err)
			status = 99
		}
	}
	os.Exit(status)
}

// forPrograms returns the command that args call, and its output type if it prints for
// programs.
func forPrograms(args []string) (string, report.Output, bool) {
	commands := newApp(nil, nil, nil).Commands
	called, all := "", outputs(commands) // the longest matching name, for example run merge instead of run
	for name := range all {
		if len(name) > len(called) && strings.HasPrefix(strings.Join(args, " ")+" ", name+" ") {
			called = name
		}
	}
	if called == "" {
		return "", report.Output{}, false
	}
	_, asked := printsJSON(leaves("", commands)[called])
	return called, all[called], (!asked || slices.Contains(args, "--json")) && !slices.Contains(args, "--help")
}

// meets checks text against the schema of o. Text with additional fields fails.
func meets(o report.Output, name string, text []byte) error {
	packed, err := json.Marshal(o.Schema(name))
	if err != nil {
		return err
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	if o.Version > 0 {
		closeObjects(schema)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", schema); err != nil {
		return err
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		return err
	}
	if o.Version > 0 && !o.Lines && text[0] == '{' && !bytes.HasPrefix(text, fmt.Appendf(nil, "{\n  \"version\": %d,\n", o.Version)) {
		return fmt.Errorf("it begins with %.40q, want its version", text)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	for n := 0; ; n++ {
		var v any
		if err := dec.Decode(&v); errors.Is(err, io.EOF) && (n == 1 || o.Lines) {
			return nil
		} else if err != nil || n == 1 && !o.Lines {
			return fmt.Errorf("value %d: %v", n+1, err)
		}
		if err := compiled.Validate(v); err != nil {
			return err
		}
	}
}

// closeObjects makes a schema reject fields that it does not name.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if s["properties"] != nil {
			s["additionalProperties"] = false
		}
		for _, below := range s {
			closeObjects(below)
		}
	case []any:
		for _, below := range s {
			closeObjects(below)
		}
	}
}

// TestMeets checks that meets detects each kind of fault in the output.
func TestMeets(t *testing.T) {
	t.Parallel()
	type part struct {
		At *float64 `json:"at"`
	}
	type found struct {
		Name  string `json:"name"`
		Parts []part `json:"parts"`
	}
	o := report.JSON[found]()
	for text, want := range map[string]bool{
		`"name": "a", "parts": [{"at": 1}, {"at": null}]`:         true,
		`"name": "a", "parts": []`:                                true,
		`"name": "a"`:                                             false,
		`"name": null, "parts": []`:                               false,
		`"name": "a", "parts": null`:                              false,
		`"name": "a", "parts": [{}]`:                              false,
		`"name": "a", "parts": [{"at": "1"}]`:                     false,
		`"name": "a", "parts": [{"at": 1, "of": 2}]`:              false,
		`"name": "a", "parts": []} {"name": "b", "parts": []`:     false,
		`"name": "a", "parts": [], "more": "than the schema has"`: false,
	} {
		if err := meets(o, "find", []byte("{\n  \"version\": 1,\n"+text+"}")); (err == nil) != want {
			t.Errorf("%s: %v, want it to do: %v", text, err, want)
		}
	}
	for _, text := range []string{`{"name": "a", "parts": []}`, `{"version": 2, "name": "a", "parts": []}`} {
		if meets(o, "find", []byte(text)) == nil {
			t.Errorf("%s: found nothing amiss, want version 1 first", text)
		}
	}
}

// TestJSONRun checks that some script runs every command that prints for programs, using
// [checkedMain].
func TestJSONRun(t *testing.T) {
	t.Parallel()
	run := make(map[string]bool)
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if call, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(line, "[machines] "), "! "), "exec bourse "); ok {
				name, _, ok := forPrograms(strings.Fields(call))
				run[name] = run[name] || ok
			}
		}
	}
	for name := range outputs(newApp(nil, nil, nil).Commands) {
		if !run[name] {
			t.Errorf("no script runs bourse %s to print JSON", name)
		}
	}
}

// TestSchemas checks that the output for programs is stable within a version. Every field
// in testdata/schemas.txt must exist with the same type, or the command's version must be
// higher. New fields must be listed.
func TestSchemas(t *testing.T) {
	t.Parallel()
	var got []string
	now := make(map[string]int)
	for name, o := range outputs(newApp(nil, nil, nil).Commands) {
		if now[name] = o.Version; o.Version == 0 {
			continue
		}
		packed, err := json.Marshal(o.Schema(name))
		if err != nil {
			t.Fatal(err)
		}
		var s map[string]any
		if err := json.Unmarshal(packed, &s); err != nil {
			t.Fatal(err)
		}
		for field, what := range fields("", s) {
			got = append(got, fmt.Sprintf("%s/%d %s %s", name, o.Version, field, what))
		}
	}
	slices.Sort(got)
	list := filepath.Join("testdata", "schemas.txt")
	text, err := os.ReadFile(list)
	if err != nil && !*rewriteSchemas {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range listed {
		name, rest, _ := strings.Cut(line, "/")
		version, _, _ := strings.Cut(rest, " ")
		then, _ := strconv.Atoi(version)
		if _, found := slices.BinarySearch(got, line); !found && now[name] == then && then > 0 {
			t.Errorf("%s is gone or is another now: a reader of version %d may want it, so raise the version", line, then)
		}
	}
	if *rewriteSchemas && !t.Failed() {
		if err := os.WriteFile(list, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range got {
		if !slices.Contains(listed, line) {
			t.Errorf("%s is not in %s: -schemas writes it", line, list)
		}
	}
}

// fields returns the type of each field of a schema, keyed by its path. A path goes through
// lists with [] and through maps with {}. A ? marks fields that may be omitted.
func fields(at string, schema map[string]any) map[string]string {
	found := make(map[string]string)
	what, _ := schema["type"].(string)
	for _, choice := range []string{"anyOf", "oneOf"} {
		all, _ := schema[choice].([]any)
		for _, one := range all {
			for field, is := range fields(at, one.(map[string]any)) {
				if field != at {
					found[field] = is
				} else if what != "" && what != is {
					what += "|" + is
				} else {
					what = is
				}
			}
		}
	}
	if c, ok := schema["const"]; ok {
		what = fmt.Sprint(c)
	}
	found[at] = what
	if what == "" {
		found[at] = "any"
	}
	if items, ok := schema["items"].(map[string]any); ok {
		maps.Copy(found, fields(at+"[]", items))
	}
	if values, ok := schema["additionalProperties"].(map[string]any); ok {
		maps.Copy(found, fields(at+"{}", values))
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for name, property := range properties {
		way := at + "." + name
		if !slices.Contains(required, any(name)) {
			way += "?"
		}
		below, _ := property.(map[string]any) // the value true permits any field
		maps.Copy(found, fields(way, below))
	}
	return found
}
