package main

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"bourse/bank/export"
	"bourse/experiments"
	"bourse/experiments/misuse"
	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
	"bourse/workloadgen/config"

	"github.com/urfave/cli/v2"
)

// command returns a function that creates a command. The first line of text is the usage line,
// the second line is the summary, and the description follows after an empty line. Each field
// of T is a flag. The function act receives a T with the given values. The tags yaml, inline
// and validate work as in a scenario. The name of a flag is the field's yaml tag or, without a
// tag, the name of the field in lower case. The fields of an embedded struct tagged inline
// count as fields of T. The tag validate applies only to flags that are set. More tags:
//
//	doc      usage, in which {NAME} is the value
//	alias    second name
//	default  value of a flag that is not given; cpus is the number of processors
//	shown    default in words
//	of       list that contains every valid value, see listOf; its names follow the usage
//	commas   list of every valid value; the values are written with commas between them
//	unit     seconds or bytes: the number may also be written as 2h or 4GB
func command[T any](text string, act func(*cli.Context, *T) error, subs ...func() *cli.Command) func() *cli.Command {
	return func() *cli.Command {
		k := group(text, subs...)()
		var o T
		for _, f := range config.FieldsOf(reflect.TypeFor[T]()) {
			k.Flags = append(k.Flags, flagOf(&o, f))
		}
		k.Action = func(c *cli.Context) error {
			var o T
			if err := fill(c, reflect.ValueOf(&o).Elem()); err != nil {
				return err
			}
			return ofFlag(c, act(c, &o))
		}
		return k
	}
}

// group returns a function that creates a command with only subcommands.
func group(text string, subs ...func() *cli.Command) func() *cli.Command {
	return func() *cli.Command {
		call, text, _ := strings.Cut(text, "\n")
		summary, description, _ := strings.Cut(text, "\n")
		name, args, _ := strings.Cut(call, " ")
		k := &cli.Command{Name: name, ArgsUsage: args, Usage: summary, Description: strings.TrimPrefix(description, "\n")}
		for _, sub := range subs {
			k.Subcommands = append(k.Subcommands, sub())
		}
		return k
	}
}

// with returns a function that creates the same command with more subcommands.
func with(of func() *cli.Command, subs ...func() *cli.Command) func() *cli.Command {
	return func() *cli.Command {
		k := of()
		for _, sub := range subs {
			k.Subcommands = append(k.Subcommands, sub())
		}
		return k
	}
}

// A none is the flag set of a command without flags.
type none struct{}

// under returns a function that creates the same command under another name, in the named
// group.
func under(name string, of func() *cli.Command) func() *cli.Command {
	return func() *cli.Command {
		k := of()
		call := "bourse " + name + " " + k.Name
		k.Description = strings.NewReplacer("bourse paper "+k.Name, call, "bourse "+k.Name, call).Replace(k.Description)
		return k
	}
}

// An outputter is a set of flags that includes --json. It prints an Output.
type outputter interface{ prints() report.Output }

// flagOf returns the flag for one field of the struct that o points to.
func flagOf(o any, f config.Field) cli.Flag {
	tag := reflect.TypeOf(o).Elem().FieldByIndex(f.Index).Tag
	usage := strings.NewReplacer("{", "`", "}", "`").Replace(f.Doc)
	switch of := tag.Get("of"); of {
	case "":
	case "preset": // the help does not list the presets, because there are too many
		usage += ", from 'bourse scenario list'"
	default:
		usage += ": " + strings.Join(listOf(of), ", ")
	}
	shown, t := tag.Get("shown"), f.Type
	if shown != "" && (t.Kind() == reflect.String || t.Kind() == reflect.Slice) {
		usage, shown = usage+" (default: "+shown+")", ""
	}
	var also []string
	if alias := tag.Get("alias"); alias != "" {
		also = []string{alias}
	}
	is := tag.Get("default")
	if is == "cpus" {
		is = strconv.Itoa(runtime.NumCPU())
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	x, _ := strconv.ParseFloat(is, 64)
	switch t.Kind() {
	case reflect.Bool:
		b := &cli.BoolFlag{Name: f.Name, Aliases: also, Usage: usage, DisableDefaultText: true}
		if p, ok := o.(outputter); ok && f.Name == "json" {
			if p.prints().Lines {
				b.Usage = "print one JSON object per transfer"
			}
			return programsFlag{b, p.prints()}
		}
		return b
	case reflect.Slice:
		if _, commas := tag.Lookup("commas"); commas {
			break
		}
		return &cli.StringSliceFlag{Name: f.Name, Aliases: also, Usage: usage, DefaultText: shown}
	case reflect.Int:
		return &cli.IntFlag{Name: f.Name, Aliases: also, Usage: usage, Value: int(x), DefaultText: shown}
	case reflect.Int64:
		return &cli.Int64Flag{Name: f.Name, Aliases: also, Usage: usage, Value: int64(x), DefaultText: shown}
	case reflect.Uint64:
		return &cli.Uint64Flag{Name: f.Name, Aliases: also, Usage: usage, Value: uint64(x), DefaultText: shown}
	case reflect.Float64:
		if unit := tag.Get("unit"); unit != "" {
			return &cli.GenericFlag{Name: f.Name, Value: &quantity{unit: config.Unit(unit), x: x}, Usage: usage, DefaultText: shown}
		}
		return &cli.Float64Flag{Name: f.Name, Aliases: also, Usage: usage, Value: x, DefaultText: shown}
	}
	return &cli.StringFlag{Name: f.Name, Aliases: also, Usage: usage, Value: is, DefaultText: shown}
}

// ofFlag puts dashes before the name of the flag at the start of a user error.
func ofFlag(c *cli.Context, err error) error {
	if !errors.As(err, new(misuse.Error)) || errors.As(err, new(*config.Error)) {
		return err
	}
	name, _, _ := strings.Cut(err.Error(), ":")
	if slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }) {
		return usagef("--%w", err)
	}
	return err
}

// fill sets the fields of a struct from the flags of c, and validates the flags that are set.
func fill(c *cli.Context, o reflect.Value) error {
	for _, f := range config.FieldsOf(o.Type()) {
		v, tag := o.FieldByIndex(f.Index), o.Type().FieldByIndex(f.Index).Tag
		if v.Kind() == reflect.Pointer {
			if !c.IsSet(f.Name) {
				continue
			}
			v.Set(reflect.New(f.Type.Elem()))
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Slice:
			values := c.StringSlice(f.Name)
			if of, commas := tag.Lookup("commas"); commas {
				values = nil
				for one := range strings.SplitSeq(c.String(f.Name), ",") {
					one = strings.TrimSpace(one)
					switch {
					case !c.IsSet(f.Name) || slices.Contains(values, one):
						continue
					case of != "" && !slices.Contains(listOf(of), one):
						return usagef("--%s: %s", f.Name, scenario.Unknown(one, listOf(of)))
					}
					values = append(values, one)
				}
			}
			v.Set(reflect.ValueOf(values))
		case reflect.Float64:
			v.SetFloat(c.Float64(f.Name))
			if q, ok := c.Generic(f.Name).(*quantity); ok {
				v.SetFloat(q.x)
			}
		default:
			v.Set(reflect.ValueOf(c.Value(f.Name)))
		}
		if !c.IsSet(f.Name) {
			continue
		}
		if of := tag.Get("of"); of != "" && v.Kind() == reflect.String && !slices.Contains(listOf(of), v.String()) {
			return usagef("--%s: %s", f.Name, scenario.Unknown(v.String(), listOf(of)))
		}
		if problem := f.Check(v); problem != "" {
			return usagef("--%s: %s", f.Name, problem)
		}
	}
	return nil
}

// listOf returns the names that the tag "of" refers to, such as presets, formats or a family
// of plug-ins.
func listOf(of string) []string {
	switch of {
	case "preset":
		return papers.Names()
	case "ledger":
		return export.Formats()
	case "trace":
		return scenario.Formats()
	case "readings":
		return slices.Sorted(maps.Keys(papers.Readings()))
	}
	return experiments.NamesOf(of)
}

// A quantity is the value of a flag that may be written with a unit, such as 2h or 7200,
// 4GB or 4000000000.
type quantity struct {
	unit config.Unit
	x    float64
}

// Set implements [cli.Generic].
func (q *quantity) Set(s string) error {
	x, ok := q.unit.Parse(s)
	if !ok {
		return fmt.Errorf("found %q, want %s", s, q.unit.Want())
	}
	q.x = x
	return nil
}

// String implements [cli.Generic].
func (q *quantity) String() string {
	if q.x == 0 {
		return ""
	}
	return fmt.Sprint(q.x)
}
