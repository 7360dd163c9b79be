package report

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// An Output describes the JSON that a command prints for programs: one Go type in one version.
// Within a version, fields may be added, but no field may be removed or change its type. A list
// is never null.
type Output struct {
	Version int  // version, which is the first field of a single object; 0 if the type has its own schema
	Lines   bool // whether one object is written per line, without the version
	Compact bool // whether the object is written on one line, as with Lines

	of reflect.Type
}

// JSON returns an output that consists of one T.
func JSON[T any]() Output {
	o := Output{Version: 1, of: reflect.TypeFor[T]()}
	if _, own := reflect.Zero(o.of).Interface().(schemed); own {
		o.Version = 0
	}
	return o
}

// JSONLines returns an output with one T per line.
func JSONLines[T any]() Output {
	return Output{Version: 1, Lines: true, Compact: true, of: reflect.TypeFor[T]()}
}

// Write writes v, which must have the type of o. It panics otherwise.
func (o Output) Write(w io.Writer, v any) error {
	value := reflect.ValueOf(v)
	if value.Type() != o.of {
		panic(fmt.Sprintf("report: found a %v to print as JSON, want a %v as in the schema", value.Type(), o.of))
	}
	if value.Kind() == reflect.Slice && value.IsNil() {
		v = reflect.MakeSlice(o.of, 0, 0).Interface()
	}
	var b bytes.Buffer
	if err := encode(&b, v, o.Compact); err != nil {
		return err
	}
	text := b.Bytes()
	if fields, object := bytes.CutPrefix(text, []byte("{")); object && o.Version > 0 && !o.Lines {
		text = append(fmt.Appendf(nil, "{\n  \"version\": %d,", o.Version), fields...)
	}
	_, err := w.Write(text)
	return err
}

// WriteJSON writes JSON that has no version, such as a schema.
func WriteJSON(w io.Writer, v any) error { return encode(w, v, false) }

func encode(w io.Writer, v any, compact bool) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if !compact {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// List returns xs. List returns an empty list instead of nil, because JSON lists must not be
// null.
func List[T any](xs []T) []T {
	if xs == nil {
		return []T{}
	}
	return xs
}

// Schema returns the JSON Schema for the output of the named command. If o.Lines is set, this
// is the schema of one line. The schema permits unknown fields, which readers must ignore.
func (o Output) Schema(command string) *jsonschema.Schema {
	if own, ok := reflect.Zero(o.of).Interface().(schemed); ok {
		return own.JSONSchema()
	}
	s := schemaOf(o.of)
	s.Version = jsonschema.Version
	s.Title = fmt.Sprintf("bourse %s --json, version %d", command, o.Version)
	if o.Lines {
		s.Title = fmt.Sprintf("one line of output from bourse %s, version %d", command, o.Version)
	} else {
		for _, one := range append(slices.Clone(s.AnyOf), s) {
			if one.Properties != nil {
				one.Properties.Set("version", &jsonschema.Schema{Const: o.Version})
				_ = one.Properties.MoveToFront("version") // every output has the field
				one.Required = append([]string{"version"}, one.Required...)
			}
		}
	}
	s.Extras = map[string]any{"version": o.Version}
	return s
}

// A schemed is a type that provides its own schema.
type schemed interface{ JSONSchema() *jsonschema.Schema }

// schemaOf returns the schema of the form in which encoding/json writes a type.
func schemaOf(t reflect.Type) *jsonschema.Schema {
	r := jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, AllowAdditionalProperties: true,
		Mapper: ownForm, AdditionalFields: nullable,
		LookupComment: func(t reflect.Type, field string) string {
			if field == "" {
				return "" // the type itself has no comment
			}
			f, _ := t.FieldByName(field)
			return f.Tag.Get("doc")
		},
	}
	s := r.ReflectFromType(t)
	s.Version = ""
	return s
}

// ownForm returns the schema of a type whose JSON form differs from its Go form. The JSON form
// is a string or, for a struct that embeds only pointers, the form of one of the pointers'
// types. ownForm returns nil for other types.
func ownForm(t reflect.Type) *jsonschema.Schema {
	switch v := reflect.Zero(t).Interface().(type) {
	case schemed, json.RawMessage:
		return nil
	case json.Marshaler:
		if text, err := v.MarshalJSON(); err == nil && text[0] == '"' {
			return &jsonschema.Schema{Type: "string"}
		}
		panic(fmt.Sprintf("report: %v has its own JSON encoding and no schema", t))
	case encoding.TextMarshaler:
		return &jsonschema.Schema{Type: "string"}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	one := new(jsonschema.Schema)
	for f := range t.Fields() {
		if !f.Anonymous || f.Type.Kind() != reflect.Pointer {
			return nil
		}
		one.AnyOf = append(one.AnyOf, schemaOf(f.Type.Elem()))
	}
	return one
}

// nullable returns the fields of a struct that are written as null if they are nil.
func nullable(t reflect.Type) (fields []reflect.StructField) {
	for f := range t.Fields() {
		if f.Type.Kind() == reflect.Pointer && f.IsExported() && !strings.Contains(f.Tag.Get("json"), ",omit") {
			f.Tag += ` jsonschema:"nullable"`
			fields = append(fields, f)
		}
	}
	return fields
}
