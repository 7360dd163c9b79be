package scenario

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// Schema returns a JSON Schema of scenario files, for editors: fields, types,
// ranges and what they mean. It does not know the names of plug-ins.
func Schema() *jsonschema.Schema {
	reflector := jsonschema.Reflector{
		Anonymous:                  true,
		ExpandedStruct:             true,
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true, // a base or a preset may say it
	}
	s := reflector.ReflectFromType(reflect.TypeFor[file]())
	s.Title = "bourse scenario"
	restrict(s, s.Definitions, reflect.TypeFor[file](), map[reflect.Type]bool{})
	if c, ok := s.Properties.Get("configurations"); ok {
		c.Items = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, c.Items}}
	}
	return s
}

// restrict adds to the schema of a struct, and of those below it, what the
// tags say, and that pointers may be null.
func restrict(s *jsonschema.Schema, definitions jsonschema.Definitions, t reflect.Type, done map[reflect.Type]bool) {
	if s == nil || done[t] {
		return
	}
	done[t] = true
	for _, f := range fieldsOf(t) {
		property, ok := s.Properties.Get(f.name)
		if !ok {
			continue
		}
		below := f.typ
		limit(property, f.rule)
		switch below.Kind() {
		case reflect.Slice:
			below = below.Elem()
		case reflect.Pointer:
			below = below.Elem()
			property = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{property, {Type: "null"}}}
			s.Properties.Set(f.name, property)
		}
		property.Description = f.doc
		if below.Kind() == reflect.Struct && below != reflect.TypeFor[Choice]() {
			restrict(definitions[below.Name()], definitions, below, done)
		}
	}
}

// limit adds one validate tag.
func limit(s *jsonschema.Schema, rule string) {
	own, elements := split(rule)
	for _, r := range strings.Split(own, ",") {
		name, value, _ := strings.Cut(r, "=")
		switch name {
		case "min":
			if s.Type == "array" {
				one := uint64(1)
				s.MinItems = &one
			} else {
				s.Minimum = json.Number(value)
			}
		case "max":
			s.Maximum = json.Number(value)
		case "gt":
			s.ExclusiveMinimum = json.Number(value)
		case "oneof":
			for _, v := range strings.Fields(value) {
				s.Enum = append(s.Enum, v)
			}
		}
	}
	if s.Items != nil && elements != "" {
		limit(s.Items, elements)
	}
}

// JSONSchema implements what jsonschema asks of types with a form of their
// own.
func (Choice) JSONSchema() *jsonschema.Schema {
	mapping := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	mapping.Properties.Set("name", &jsonschema.Schema{Type: "string", Description: "of the plug-in; the other fields are its options"})
	mapping.Properties.Set("label", &jsonschema.Schema{Type: "string", Pattern: word.String(), Description: "tells apart two choices of one plug-in"})
	mapping.Properties.Set("sharing", &jsonschema.Schema{Description: "of an admission policy: the sharing rule under it, in place of market.sharing"})
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, mapping}}
}

// JSONSchema implements what jsonschema asks of types with a form of their
// own.
func (Value) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number"}, {Type: "boolean"}, {Type: "string", Pattern: value.String()}}}
}

// JSONSchema implements what jsonschema asks of types with a form of their
// own.
func (Options) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "object"}, {Type: "null"}}}
}
