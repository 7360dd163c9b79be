package main

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/contracts/sharing"
	availability "bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/availability/sched"
	"bourse/hosts/matchmaking"
	"bourse/market"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/models"
	"bourse/workloadgen/plugin"
	"bourse/workloadgen/value"

	"github.com/goccy/go-yaml"
	"github.com/urfave/cli/v2"
)

// A member is one member of a family, as users see it.
type member struct {
	Family  string   `json:"family"`
	Name    string   `json:"name"`
	Doc     string   `json:"doc"`
	Options []option `json:"options"`
}

// An option is a field of a plug-in's options.
type option = plugin.Option

func policiesCommand() *cli.Command {
	return &cli.Command{
		Name:      "policies",
		Usage:     "list every plug-in with its options",
		ArgsUsage: "[FAMILY]",
		Description: `Families are admission, bidding, sharing, payment, forecaster, model, value, law (of
the quantities of model independent), availability (models of hosts that come and
go), predictor (of them), scheduler (the matchmakers of admission queue) and
matchmaking (of admission reserve).

   bourse policies
   bourse policies admission --json`,
		Flags:  []cli.Flag{jsonFlag()},
		Action: policiesAction,
	}
}

func policiesAction(c *cli.Context) error {
	if err := between(c, 0, 1, "FAMILY"); err != nil {
		return err
	}
	all, err := plugins()
	if err != nil {
		return err
	}
	if family := c.Args().First(); family != "" {
		var own []member
		for _, p := range all {
			if p.Family == family {
				own = append(own, p)
			}
		}
		if all = own; len(all) == 0 {
			return usagef("found %q, want a family: %s", family, strings.Join(families(), ", "))
		}
	}
	if c.Bool("json") {
		return printJSON(c, all)
	}
	family := ""
	for _, p := range all {
		if p.Family != family {
			family = p.Family
			fmt.Fprintf(c.App.Writer, "%s\n", family)
		}
		fmt.Fprintf(c.App.Writer, "  %-24s %s\n", p.Name, p.Doc)
		for _, o := range p.Options {
			fmt.Fprintf(c.App.Writer, "    %-22s %s (%s)\n", o.Name, o.Doc, written(o.Default))
		}
	}
	return nil
}

// plugins returns every plug-in of the program.
func plugins() ([]member, error) {
	var all []member
	var err error
	add := func(family string, names []string, doc func(string) string, options func(string) ([]option, error)) {
		for _, name := range names {
			o, failed := options(name)
			if failed != nil && err == nil {
				err = fmt.Errorf("options of %s %s: %w", family, name, failed)
			}
			all = append(all, member{family, name, doc(name), append([]option{}, o...)})
		}
	}
	rng := rand.New(rand.NewPCG(0, 0)) // nothing is drawn
	add("admission", admission.Names(), admission.Doc, probe(func(name string, decode func(any) error) error {
		bid, err := bidding.Table(rng).New("cheapest", func(any) error { return nil })
		if err == nil {
			_, err = admission.New(name, decode, bid, rng)
		}
		return err
	}))
	all = append(all, members("bidding", bidding.Table(rng))...)
	all = append(all, members("sharing", sharing.Table())...)
	all = append(all, members("payment", broker.Payments())...)
	all = append(all, members("forecaster", market.Forecasters())...)
	all = append(all, members("model", models.Table())...)
	all = append(all, members("value", value.Table())...)
	all = append(all, members("law", dist.Table())...)
	all = append(all, members("availability", availability.Table())...)
	all = append(all, members("predictor", predictors.Table())...)
	all = append(all, members("scheduler", sched.Table(nil))...)
	all = append(all, members("matchmaking", matchmaking.Table(nil))...)
	return all, err
}

// members returns those of a family.
func members[T any](family string, t plugin.Table[T]) []member {
	var all []member
	for _, name := range t.Names() {
		all = append(all, member{family, name, t.Doc(name), t.Options(name)})
	}
	return all
}

// families returns the names of the families.
func families() []string {
	return []string{"admission", "bidding", "sharing", "payment", "forecaster", "model", "value", "law", "availability", "predictor", "scheduler", "matchmaking"}
}

// built asks what new makes for its options.
func built[T any](new func(string, func(any) error, *rand.Rand) (T, error), rng *rand.Rand) func(string) ([]option, error) {
	return probe(func(name string, decode func(any) error) error {
		_, err := new(name, decode, rng)
		return err
	})
}

// probe returns what lists the options of a plug-in: it makes one, and looks at
// the struct, filled with defaults, that it wants decoded.
func probe(make func(name string, decode func(any) error) error) func(string) ([]option, error) {
	return func(name string) ([]option, error) {
		var found []option
		err := make(name, func(v any) error {
			found = fields("", reflect.ValueOf(v).Elem())
			return nil
		})
		if found != nil {
			err = nil // it may want an option that has no default
		}
		return found, err
	}
}

// fields lists the fields of a struct by their names in files, nested ones with
// a dot. Of a pointer to a struct that is not set, what it would start from is
// listed too.
func fields(prefix string, v reflect.Value) []option {
	var all []option
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case !f.IsExported() || name == "-":
		case strings.Contains(rest, "inline"):
			all = append(all, fields(prefix, value)...)
		case f.Type.Kind() == reflect.Struct && !isChoice(f.Type):
			all = append(all, fields(prefix+name+".", value)...)
		case f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct && !isChoice(f.Type.Elem()):
			all = append(all, option{Name: prefix + name, Doc: f.Tag.Get("doc")})
			start := reflect.New(f.Type.Elem())
			if yaml.Unmarshal([]byte("{}"), start.Interface()) == nil {
				all = append(all, fields(prefix+name+".", start.Elem())...)
			}
		default:
			all = append(all, option{Name: prefix + name, Default: plain(value), Doc: f.Tag.Get("doc")})
		}
	}
	return all
}

// isChoice reports whether a struct names a plug-in and its options.
func isChoice(t reflect.Type) bool {
	_, named := t.FieldByName("Name")
	_, options := t.FieldByName("Options")
	return named && options
}

// plain returns a value as a file would write it, nil if it is not set: a choice
// without options is its name.
func plain(v reflect.Value) any {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || !isChoice(v.Type()) {
		return v.Interface()
	}
	name, options := v.FieldByName("Name"), v.FieldByName("Options")
	if options.Len() == 0 {
		return name.Interface()
	}
	return map[string]any{"name": name.Interface(), "options": options.Interface()}
}

// written returns a default as people read it.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return cmp.Or(v, "none")
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, key+": "+written(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if s := fmt.Sprint(v); s != "[]" {
		return s
	}
	return "none"
}
