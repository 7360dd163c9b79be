package scenario

import (
	"bourse/workloadgen/plugin"
	"encoding/json"
	"reflect"

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
	for _, f := range plugin.FieldsOf(t) {
		property, ok := s.Properties.Get(f.Name)
		if !ok {
			continue
		}
		below := f.Type
		limit(property, f.Rule)
		switch below.Kind() {
		case reflect.Slice:
			below = below.Elem()
		case reflect.Pointer:
			below = below.Elem()
			property = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{property, {Type: "null"}}}
			s.Properties.Set(f.Name, property)
		}
		property.Description = f.Doc
		if below.Kind() == reflect.Struct && below != reflect.TypeFor[Choice]() {
			restrict(definitions[below.Name()], definitions, below, done)
		}
	}
}

// limit adds one validate tag.
func limit(s *jsonschema.Schema, tag string) {
	r := plugin.RuleOf(tag)
	if s.Type == "array" && r.Min != "" {
		one := uint64(1)
		s.MinItems = &one
	} else {
		s.Minimum, s.ExclusiveMinimum = json.Number(r.Min), json.Number(r.Over)
		s.Maximum, s.ExclusiveMaximum = json.Number(r.Max), json.Number(r.Under)
	}
	for _, v := range r.OneOf {
		s.Enum = append(s.Enum, v)
	}
	if s.Items != nil && r.Elements != "" {
		limit(s.Items, r.Elements)
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
