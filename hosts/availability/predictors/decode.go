package predictors

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// Decode fills in out, a pointer to a struct of options with yaml tags, from what a
// file says. It refuses fields that are unknown, and takes nothing for what it is
// not: no 2.5 for a whole number, no text for a number.
func Decode(options map[string]any, out any) error {
	return decode(options, reflect.ValueOf(out).Elem(), "")
}

func decode(x any, v reflect.Value, path string) error {
	if own, ok := v.Addr().Interface().(interface{ UnmarshalYAML(func(any) error) error }); ok {
		return own.UnmarshalYAML(func(out any) error { return decode(x, reflect.ValueOf(out).Elem(), path) })
	}
	from := reflect.ValueOf(x)
	wrong := func(want string) error {
		if path == "" {
			return fmt.Errorf("found %v, want %s", x, want)
		}
		return fmt.Errorf("%s: found %v, want %s", path, x, want)
	}
	switch v.Kind() {
	case reflect.Interface:
		v.SetZero()
		if x != nil {
			v.Set(from)
		}
	case reflect.Struct:
		said, ok := x.(map[string]any)
		if !ok {
			return wrong("a mapping")
		}
		return decodeStruct(said, v, path)
	case reflect.Map:
		if x != nil && from.Type() != v.Type() {
			return wrong("a mapping")
		}
		v.SetZero()
		if x != nil {
			v.Set(from)
		}
	case reflect.String:
		if from.Kind() != reflect.String {
			return wrong("a word")
		}
		v.SetString(from.String())
	case reflect.Bool:
		if from.Kind() != reflect.Bool {
			return wrong("true or false")
		}
		v.SetBool(from.Bool())
	default:
		number, ok := numberOf(from)
		if !ok {
			return wrong("a number")
		}
		if v.CanFloat() {
			v.SetFloat(number)
			return nil
		}
		if number != math.Trunc(number) || math.Abs(number) > 1<<53 || v.OverflowInt(int64(number)) {
			return wrong("a whole number")
		}
		v.SetInt(int64(number))
	}
	return nil
}

func numberOf(v reflect.Value) (float64, bool) {
	switch {
	case !v.IsValid():
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

func decodeStruct(said map[string]any, v reflect.Value, path string) error {
	var names []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		names = append(names, name)
		x, ok := said[name]
		if !ok {
			continue
		}
		if err := decode(x, v.Field(i), below(path, name)); err != nil {
			return err
		}
	}
	for name := range said {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			return fmt.Errorf("unknown field %q, want one of %s", below(path, name), strings.Join(names, ", "))
		}
	}
	return nil
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
