package scenario

import (
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"

	"slices"
	"strings"
)

// Availability describes when the hosts of a fleet are present, and what happens when a host
// leaves.
type Availability struct {
	Model     *Choice `yaml:"model" family:"availability" doc:"availability model, which generates one trace per replication; all policies use the same trace"`
	Span      float64 `yaml:"span" validate:"gt=0,max=1e9" doc:"length of the traces that a model generates, s; without a horizon, the run ends with the trace"`
	File      string  `yaml:"file" doc:"recorded trace (plain or gzip) instead of a model; for format ucb, a folder with one file per host"`
	Format    string  `yaml:"format" validate:"oneof=auto csv fta ucb load" doc:"format of the file: csv (resource,start,end,state,load,mips), fta (event_trace), ucb (epoch ops), load (date, host, 288 percentages), or auto (detected from the first lines)"`
	Threshold float64 `yaml:"threshold" validate:"min=0,lt=1" doc:"CPU load above which a host counts as busy (only for format load)"`
	MinDays   int     `yaml:"min_days" validate:"min=0,max=100000" doc:"minimum number of recorded days per host; hosts with fewer days are omitted (only for format load)"`
	Peak      float64 `yaml:"peak" validate:"min=0,max=1e18" doc:"number of operations per second of an idle host; 0 means the maximum of each host (only for format ucb)"`
	Gap       float64 `yaml:"gap" validate:"min=0,max=1e9" doc:"minimum length of an absence in a file, s; shorter absences are ignored"`
	Leaving   string  `yaml:"leaving" validate:"oneof=resubmit lost suspend" doc:"rule for tasks on a host that leaves: resubmit (the contract starts again on other hosts), lost, or suspend (the task waits until the host returns)"`
	LostWork  string  `yaml:"lost_work" validate:"oneof=free charged" doc:"payment for lost work: free (nothing is paid) or charged (the accrued charges are paid; none accrue under payment budget)"`
	Predictor Choice  `yaml:"predictor" family:"predictor" doc:"predictor of hosts' availability, for policies that use a predictor"`
}

// DefaultAvailability returns the default values of an availability block.
func DefaultAvailability() Availability {
	return Availability{
		Span: 7 * 86400, Format: "auto", Threshold: 0.1, Gap: 120,
		Leaving: "resubmit", LostWork: "free", Predictor: Named("tde"),
	}
}

// SetDefaults sets the fields that the file omits.
func (a *Availability) SetDefaults() { *a = DefaultAvailability() }

// check returns an error unless the file specifies exactly one source of traces.
func (a *Availability) check(n *config.Node, path string, known Known) error {
	if a == nil {
		return nil
	}
	at := place(n.Get("fleet").Get("availability"), n)
	path = config.Join(path, "fleet.availability")
	switch {
	case a.Model == nil && a.File == "":
		return at.Fail(path, "found neither model nor file, want one of them")
	case a.Model != nil && a.File != "":
		return at.Fail(path, "found both model and file, want only one of them; null removes a setting of a base or preset (model: null)")
	}
	if a.Model != nil {
		if err := a.Model.plain(known.Availability); err != nil {
			return err
		}
	}
	return a.Predictor.plain(known.Predictors)
}

// useTrace makes every configuration that has an availability block use a recorded trace.
// It replaces the block's trace or model.
func useTrace(root *config.Node, path, format string) (*config.Node, error) {
	at := config.Place{Source: "--availability " + plugin.Clip(path)}
	word := func(s string) *config.Node {
		n := config.Text(s)
		n.At = at
		return n
	}
	found := false
	put := func(c *config.Node) *config.Node {
		fleet := c.Get("fleet")
		a := fleet.Get("availability")
		if a == nil || a.Kind != config.Mapping {
			return c
		}
		found = true
		a = a.Put("model", &config.Node{At: at}).Put("file", word(path))
		if format != "" {
			a = a.Put("format", word(format))
		} else {
			a = a.Without("format")
		}
		return c.Put("fleet", fleet.Put("availability", a))
	}
	if c := root.Get("configurations"); c != nil && c.Kind == config.List {
		root = root.Put("configurations", each(c, put))
	}
	if !found {
		return nil, at.Fail("", "no configuration has fleet.availability, so hosts never leave")
	}
	return root, nil
}

// Formats returns the names of the formats of recorded traces.
func Formats() []string { return slices.Clone(strings.Fields("auto csv fta ucb load")) }
