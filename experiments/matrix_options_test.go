package experiments

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bourse/contracts/bidding"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	availability "bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/availability/sched"
	"bourse/market/forecast"
	"bourse/workloadgen/config"
)

// A matrixFamily is a table of plug-ins whose options the matrix draws.
type matrixFamily struct {
	names []string
	make  func(name string, decode func(any) error) error
}

// matrixFamilies lists the tables. A plug-in that is added to a table is drawn by the matrix,
// too.
func matrixFamilies() map[string]matrixFamily {
	rng := rand.New(rand.NewPCG(0, 0)) // no random number is used
	plain := func(any) error { return nil }
	return map[string]matrixFamily{
		"admission": {policies.Table(nil, nil).Names(), func(name string, decode func(any) error) error {
			bid, err := bidding.Table(rng).New("cheapest", plain)
			if err == nil {
				_, err = policies.Table(bid, rng).New(name, decode)
			}
			return err
		}},
		"sharing": {sharing.Table().Names(), func(name string, decode func(any) error) error {
			_, err := sharing.Table().New(name, decode)
			return err
		}},
		"bidding": {bidding.Table(nil).Names(), func(name string, decode func(any) error) error {
			_, err := bidding.Table(rng).New(name, decode)
			return err
		}},
		"forecaster": {forecast.Table().Names(), func(name string, decode func(any) error) error {
			_, err := forecast.Table().New(name, decode)
			return err
		}},
		"scheduler": {sched.Table(nil).Names(), func(name string, decode func(any) error) error {
			_, err := sched.Table(rng).New(name, decode)
			return err
		}},
		"availability": {availability.Table().Names(), func(name string, decode func(any) error) error {
			_, err := availability.Table().New(name, decode)
			return err
		}},
		"predictor": {predictors.Table().Names(), func(name string, decode func(any) error) error {
			_, err := predictors.Table().New(name, decode)
			return err
		}},
	}
}

// firstForecasters lists the forecasters that existed when the hashes of the draws were
// written, in the order of that time.
var firstForecasters = []string{"chebyshev", "chebyshev-two-sided", "normal", "empirical"}

// firstPayments and firstBiddings list the payment and bidding rules of that time.
var (
	firstPayments = []string{"admission", "bid", "budget", "scarce", "spot", "usage"}
	firstBiddings = []string{"best-response", "cheapest", "random"}
)

// laterNames lists the policies and sharing rules that did not exist when the hashes of the
// draws were written.
var laterNames = []string{
	"adaptive", "partition",
	"posted", "spot", "call", "bundle", "windows", "karma", "slices", "conservative", "fairshare", "drf", "maxmin",
}

// known returns those of the names that existed when draw d was first made.
func (d *drawer) known(names []string) []string {
	if d.number < matrixHashes {
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(laterNames, name) })
	}
	return names
}

// matrixValues are the values used for each option, keyed by plug-in and option, or by
// option if several plug-ins have it. Options that are true or false, or that name another
// plug-in, need no values.
var matrixValues = map[string][]string{
	"guarantee": {"0.05", "0.6", "0.99"},
	"threshold": {"price", "share"},
	"discount":  {"none", "predicted"},
	"capacity":  {"projected", "static"},
	"promise":   {"price", "fulfilment"},
	"default":   {"be", "sac", "cac", "rac"},
	"low":       {"be", "sac", "cac", "rac"},
	"high":      {"be", "sac", "cac", "rac"},
	"above":     {"0.3", "1", "3"},
	"margin":    {"0", "0.1", "2"},

	"reserved":    {"0", "0.4", "1"},
	"reservation": {"sac", "cac"},
	"spot":        {"be", "rac"},
	"reject":      {"0", "0.37", "1"},

	"half_life": {"0.01", "0.2", "10"},
	"lag":       {"0.1", "0.5", "0.9"},
	"samples":   {"2", "7", "30"},
	"gamma":     {"0.005", "0.1", "1"},
	"steps":     {"1", "10"},
	"scores":    {"1", "50"},

	"shape":          {"fixed", "power", "threshold"},
	"posted low":     {"1e-6", "0.001", "0.02"},
	"posted high":    {"0.02", "1"},
	"windows low":    {"1e-6", "0.001", "0.02"},
	"windows high":   {"0.02", "1"},
	"prices":         {"[]", "[0.01]", "[0.001, 0.02, 0.0001]"},
	"width":          {"20", "100", "3600"},
	"ahead":          {"0", "1", "5"},
	"rule":           {"vcg", "greedy"},
	"exact":          {"0", "6", "24"},
	"norm":           {"0.5", "1"},
	"bundle reserve": {"0", "1e-6", "0.001"},
	"power":          {"0.5", "1", "2"},
	"at":             {"marginal", "before"},
	"losers":         {"wait", "leave"},
	"every":          {"7", "60", "300"},
	"notice":         {"0", "2", "7"},
	"spot reserve":   {"1e-6", "0.001"},
	"k":              {"0", "0.5", "1"},
	"interrupted":    {"resume", "restart", "end"},
	"restore":        {"0", "5", "60"},
	"ondemand":       {"0", "0.001", "0.05"},
	"spot bidding":   {"value", "progress"},
	"asks":           {"[0.000001]", "[0.000001, 0.001, 0.0005]"},
	"uniform":        {"[0, 0.001]", "[0.00001, 0.00002]"},
	"alpha":          {"0", "0.5", "1"},
	"credits":        {"0", "7", "1000000000"},

	"edf admission": {"deadline", "none"},
	"check":         {"start", "select"},

	"order":      {"index", "bestfit"},
	"projection": {"dynamic", "incumbent", "static"},
	"spare":      {"proportional", "equal", "none"},
	"late":       {"shift", "pressure"},
	"protect":    {"strict", "printed"},
	"current":    {"recompute", "stored"},

	"deadline overrun": {"keep", "zero", "kill"},

	"from":      {"0", "0.5", "40"},
	"interval":  {"0.7", "10", "60"},
	"hold":      {"0", "15", "300"},
	"hold_mode": {"skip", "block"},
	"resubmit":  {"tail", "head", "drop"},

	"match":             {"ran", "ff", "nf", "imct", "minu", "maxu", "mli", "price"},
	"od_map":            {"imct", "same"},
	"reserve admission": {"edf", "edf+insert"},
	"reserve overrun":   {"extend", "kill"},
	"extend_pct":        {"1", "20", "1000"},
	"zeta_scope":        {"ar", "all"},
	"zeta_scale":        {"mul", "div", "none"},
	"util":              {"cumulative", "instant", "committed"},
	"od_deadline":       {"0", "1", "20"},
	"base":              {"0", "0.001", "0.3"},
	"kappa":             {"0", "0.001", "0.3"},
	"cancel_fee":        {"0", "0.1", "1"},

	"threshold threshold": {"0", "0.5", "1"},
	"idle_order":          {"fifo", "index", "rotate"},
	"pps_load":            {"local", "local+grid", "binary"},
	"pps_tie":             {"index", "fewest", "rotate", "random"},

	"days":   {"1", "6"},
	"plen":   {"0.5", "3"},
	"count":  {"ceil", "floor", "frac"},
	"unit":   {"exec", "plen"},
	"weight": {"day", "pooled"},

	"maxmin weight": {"equal", "bid"},

	"fairshare half_life": {"20", "3600"},
	"period":              {"3", "300"},
	"damping":             {"0.5", "2"},
	"age":                 {"0", "1"},
	"age_max":             {"30", "604800"},
	"size":                {"0", "1"},
	"backfill":            {"none", "easy", "conservative"},
	"shares":              {"{}", "{1: 3, 2: 0.5}"},
	"accounts":            {"{}", "{a: {shares: 2}, 1: {parent: a, shares: 1}, 2: {parent: a, shares: 3}, b: {shares: 1}}"},
	"slices shares":       {"{}", "{1: 3, 2: 0.5}"},
	"empty":               {"zero", "one", "skip"},
	"missing":             {"skip", "zero", "one"},
	"no_history":          {"0", "0.5", "1"},
	"renewal law":         {"weibull", "lognormal", "exponential"},
	"least":               {"2", "5"},

	"rate":          {"2", "60"},
	"het":           {"0", "0.2"},
	"median":        {"30", "300"},
	"sigma":         {"0.3", "1.2"},
	"diurnal least": {"1", "20"},
	"sessions":      {"0", "2"},
	"kept":          {"0", "0.6", "1"},
	"nights":        {"0", "0.15", "1"},
	"load":          {"0", "0.2", "1"},
	"load_every":    {"0", "600"},
	"site":          {"nd07cpu", "pl05", "skype06"},
	"intervals law": {"exp", "weibull"},
	"state":         {"P", "U"},
	"mean":          {"[60, 10, 5, 5, 30]", "[300, 300, 300, 300, 300]"},
	"next":          {"[[0, 1, 1, 1, 1], [1, 0, 0, 0, 0], [1, 0, 0, 0, 1], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]"},
}

// A matrixOption is an option of a plug-in.
type matrixOption struct {
	path   []string
	values []string // nil means that the type determines the values
	typ    reflect.Type
}

// optionsOf returns the options that the named plug-in decodes.
func (f matrixFamily) optionsOf(name string) (out []matrixOption) {
	f.make(name, func(v any) error { // ignore the error, which is about an option without a default
		out = matrixFields(name, nil, reflect.TypeOf(v).Elem())
		return nil
	})
	return out
}

func matrixFields(plugin string, path []string, t reflect.Type) (out []matrixOption) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		at := append(slices.Clone(path), name)
		switch {
		case !f.IsExported() || name == "-":
		case strings.Contains(rest, "inline"):
			out = append(out, matrixFields(plugin, path, f.Type)...)
		case f.Type.Kind() == reflect.Struct && !matrixNames(f.Type):
			out = append(out, matrixFields(plugin, at, f.Type)...)
		default:
			values := matrixValues[plugin+" "+name]
			if values == nil {
				values = matrixValues[name]
			}
			out = append(out, matrixOption{at, values, f.Type})
		}
	}
	return out
}

// matrixNames reports whether a struct names another plug-in with options.
func matrixNames(t reflect.Type) bool {
	_, named := t.FieldByName("Name")
	_, options := t.FieldByName("Options")
	return named && options
}

// TestMatrixOptions checks that the matrix has values for every option of every plug-in
// that it draws, and no values for options that no longer exist.
func TestMatrixOptions(t *testing.T) {
	t.Parallel()
	used := make(map[string]bool)
	for family, f := range matrixFamilies() {
		for _, name := range f.names {
			for _, o := range f.optionsOf(name) {
				last := o.path[len(o.path)-1]
				used[last], used[name+" "+last] = true, true
				if o.values == nil && o.typ.Kind() != reflect.Bool && !matrixNames(o.typ) {
					t.Errorf("%s %s has an option %s, for which the matrix has no values: want some in matrixValues",
						family, name, strings.Join(o.path, "."))
				}
			}
		}
	}
	for key := range matrixValues {
		if !used[key] {
			t.Errorf("the matrix has values for %s, which is no option of any plug-in", key)
		}
	}
}

// plugin draws a plug-in with some of its options. In the result, the options follow the name
// of the plug-in.
func (d *drawer) plugin(family, name string) []*branch {
	root := fork("", leaf("name", name))
	all := d
	later := d.own(0x6c61746572) // for options that are newer than the stored hashes
	for _, o := range d.families[family].optionsOf(name) {
		if d = all; laterOptions[o.path[len(o.path)-1]] && family == "admission" {
			if d = later; all.number < matrixHashes {
				continue
			}
		}
		if !d.odds(0.4) {
			continue
		}
		in, last := root, len(o.path)-1
		for _, name := range o.path[:last] {
			if in.get(name) == nil {
				in.add(fork(name))
			}
			in = in.get(name)
		}
		switch {
		case o.path[last] == "matchmaker":
			in.add(fork(o.path[last], d.scheduler()))
		case o.typ == reflect.TypeFor[config.Spec]():
			in.add(fork(o.path[last], d.spec("predictor")...))
		case o.typ.Kind() == reflect.Bool:
			in.add(leaf(o.path[last], pick(d, "true", "false")))
		default:
			in.add(leaf(o.path[last], pick(d, o.values...)))
		}
	}
	return root.in
}

// laterOptions lists the options of admission policies that did not exist when the hashes of
// the draws were written.
var laterOptions = map[string]bool{"promise": true, "gamma": true}

// spec draws a plug-in in the form used by plug-ins that have their own options.
func (d *drawer) spec(family string) []*branch {
	all := d.plugin(family, pick(d, d.families[family].names...))
	if len(all) == 1 {
		return all
	}
	return []*branch{all[0], fork("options", all[1:]...)}
}

// scheduler draws a matchmaker in the form that the policy queue uses.
func (d *drawer) scheduler() *branch {
	all := d.plugin("scheduler", pick(d, d.families["scheduler"].names...))
	return &branch{name: all[0].text, in: append([]*branch{}, all[1:]...), text: "{}"}
}
