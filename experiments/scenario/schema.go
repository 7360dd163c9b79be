package scenario

import (
	"bourse/workloadgen/config"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// Schema returns a JSON Schema of scenario files for editors. The schema contains the fields
// with their types, ranges and descriptions. It contains the same for the plug-ins in
// families, whose keys are the names of the families.
func Schema(families map[string]config.Family) *jsonschema.Schema {
	reflector := jsonschema.Reflector{
		Anonymous:                  true,
		ExpandedStruct:             true,
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true, // no field is required, because a base or a preset may set it
	}
	s := reflector.ReflectFromType(reflect.TypeFor[file]())
	s.Title = "bourse scenario"
	restrict(s, s.Definitions, reflect.TypeFor[file](), map[reflect.Type]bool{}, families)
	if r, ok := s.Properties.Get("replications"); ok {
		until, _ := s.Properties.Get("until")
		many := object()
		many.Type = "object"
		for _, end := range []string{"min", "max"} {
			many.Properties.Set(end, &jsonschema.Schema{Type: "integer", Minimum: r.Minimum, Maximum: r.Maximum})
		}
		many.Properties.Set("until", until)
		many.Required, many.AdditionalProperties = []string{"until"}, jsonschema.FalseSchema
		number := *r
		number.Description = ""
		s.Properties.Set("replications", &jsonschema.Schema{Description: r.Description, AnyOf: []*jsonschema.Schema{&number, many}})
	}
	if axis := s.Definitions["Axis"]; axis != nil {
		if v, ok := axis.Properties.Get("values"); ok {
			many := *v
			many.Description = ""
			axis.Properties.Set("values", &jsonschema.Schema{Description: v.Description, AnyOf: []*jsonschema.Schema{&many, {Type: "string"}}})
		}
	}
	if c, ok := s.Properties.Get("configurations"); ok {
		c.Items = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, c.Items}}
	}
	return s
}

// restrict adds the constraints in the tags to the schema of a struct and of the structs in
// it. It allows null for pointers.
func restrict(s *jsonschema.Schema, definitions jsonschema.Definitions, t reflect.Type, done map[reflect.Type]bool, families map[string]config.Family) {
	if s == nil || done[t] {
		return
	}
	done[t] = true
	for _, f := range config.FieldsOf(t) {
		property, ok := s.Properties.Get(f.Name)
		if !ok {
			continue
		}
		below := f.Type
		limit(property, f.Rule)
		if name := t.FieldByIndex(f.Index).Tag.Get("family"); families[name] != nil {
			definitions["family-"+name] = familySchema(families[name])
			choice := property
			if property.Items != nil {
				choice = property.Items
			}
			choice.Ref = "#/$defs/family-" + name
		}
		switch below.Kind() {
		case reflect.Slice:
			below = below.Elem()
		case reflect.Pointer:
			below = below.Elem()
			property = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{property, {Type: "null"}}}
			s.Properties.Set(f.Name, property)
		}
		if unit := config.UnitOf(f.Doc); unit != config.NoUnit && below.Kind() == reflect.Float64 {
			written := &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]`, Description: unit.Want()}
			if property.AnyOf == nil {
				property = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{property}}
				s.Properties.Set(f.Name, property)
			}
			property.AnyOf = append(property.AnyOf, written)
		}
		property.Description = f.Doc
		if below.Kind() == reflect.Struct && below != reflect.TypeFor[Choice]() {
			restrict(definitions[below.Name()], definitions, below, done, families)
		}
	}
}

// limit adds the constraints in one validate tag.
func limit(s *jsonschema.Schema, tag string) {
	r := config.RuleOf(tag)
	if r.Omit {
		return // no limits, because 0 or an empty string is also valid
	}
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

// JSONSchema returns the JSON schema of a Choice. The jsonschema package calls this method for
// types with a custom JSON form.
func (Choice) JSONSchema() *jsonschema.Schema { return choiceOf(&jsonschema.Schema{Type: "string"}) }

// choiceOf returns the schema for either a name or a mapping with a name and options.
func choiceOf(name *jsonschema.Schema) *jsonschema.Schema {
	mapping := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	mapping.Properties.Set("name", name)
	mapping.Properties.Set("label", &jsonschema.Schema{Type: "string", Pattern: word.String(), Description: "label that distinguishes several uses of one plug-in"})
	mapping.Properties.Set("sharing", &jsonschema.Schema{Description: "sharing rule for this admission policy, instead of market.sharing"})
	mapping.Properties.Set("negotiate", &jsonschema.Schema{Enum: []any{Never, Rational, Impatient}, Description: "whether users accept an advantageous offer instead of a rejection: never, rational (users take the best offer) or impatient (users take the earliest offer)"})
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{name, mapping}}
}

// familySchema returns the schema for the choice of a member of family f. A mapping that
// names a member may contain the member's options.
func familySchema(f config.Family) *jsonschema.Schema {
	name := &jsonschema.Schema{Type: "string", Description: "name of the plug-in; the other fields are its options"}
	s := choiceOf(name)
	for _, member := range f.Names() {
		name.Enum = append(name.Enum, member)
		is, then := object(), object()
		is.Properties.Set("name", &jsonschema.Schema{Const: member})
		is.Required, then.Description = []string{"name"}, f.Doc(member)
		for _, o := range config.Options(f, member) {
			in, path := then, strings.Split(o.Name, ".")
			for _, segment := range path[:len(path)-1] {
				below, ok := in.Properties.Get(segment)
				if !ok {
					below = object()
					in.Properties.Set(segment, below)
				} else if below.Properties == nil {
					below.Properties = jsonschema.NewProperties()
				}
				in = below
			}
			in.Properties.Set(path[len(path)-1], optionSchema(o))
		}
		mapping := s.AnyOf[1]
		mapping.AllOf = append(mapping.AllOf, &jsonschema.Schema{If: is, Then: then})
	}
	return s
}

func object() *jsonschema.Schema { return &jsonschema.Schema{Properties: jsonschema.NewProperties()} }

// optionSchema returns the schema of an option. An option that names another plug-in may
// have any form.
func optionSchema(o config.Option) *jsonschema.Schema {
	s := &jsonschema.Schema{Description: o.Doc, Default: o.Default}
	if t := o.Type; t.Kind() != reflect.Pointer && t != reflect.TypeFor[config.Spec]() {
		s.Type = map[reflect.Kind]string{
			reflect.Bool: "boolean", reflect.String: "string", reflect.Float64: "number", reflect.Slice: "array", reflect.Array: "array", reflect.Map: "object",
		}[t.Kind()]
		if s.Type == "" {
			s.Type = "integer"
		}
	}
	limit(s, o.Rule)
	return s
}

// JSONSchema returns the JSON schema of a Value.
func (Value) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number"}, {Type: "boolean"}, {Type: "string", Pattern: value.String()}, {Type: "string", Pattern: ranges}}}
}

// JSONSchema returns the JSON schema of Options.
func (Options) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "object"}, {Type: "null"}}}
}
