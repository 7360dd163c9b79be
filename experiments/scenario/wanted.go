package scenario

import (
	"fmt"
	"reflect"
	"strings"
)

// wanted says in words what a field of a type takes, given its validate tag.
func wanted(t reflect.Type, rule string) string {
	own, rest := split(rule)
	switch {
	case t == reflect.TypeFor[Choice]():
		return "a name, or a mapping of name and options"
	case t == reflect.TypeFor[Options]():
		return "a mapping of options"
	case strings.HasPrefix(own, "oneof="):
		return "one of " + strings.ReplaceAll(own[len("oneof="):], " ", ", ")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem(), rule)
	case reflect.Struct:
		return "a mapping with the fields " + strings.Join(fieldsOf(t).names(), ", ")
	case reflect.Map:
		return "a mapping"
	case reflect.Slice:
		if strings.HasPrefix(own, "min=1") {
			return "a list of one or more, each " + wanted(t.Elem(), rest)
		}
		return "a list, each " + wanted(t.Elem(), rest)
	case reflect.Array:
		return fmt.Sprintf("a list of %d, each %s", t.Len(), wanted(t.Elem(), rest))
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number" + limits(own)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if own == "" {
			own = "min=0"
		}
	}
	return "a whole number" + limits(own)
}

// split parts the rule of a list from that of its elements.
func split(rule string) (own, elements string) {
	own, elements, _ = strings.Cut(rule, "dive")
	return strings.TrimSuffix(own, ","), strings.TrimPrefix(elements, ",")
}

// limits says in words which numbers a rule allows.
func limits(rule string) string {
	var out []string
	for _, r := range strings.Split(rule, ",") {
		name, value, _ := strings.Cut(r, "=")
		switch name {
		case "min", "gte":
			out = append(out, "at least "+value)
		case "gt":
			out = append(out, "more than "+value)
		case "max", "lte":
			out = append(out, "at most "+value)
		case "lt":
			out = append(out, "less than "+value)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " " + strings.Join(out, " and ")
}
