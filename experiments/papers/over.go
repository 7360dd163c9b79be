package papers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/experiments/metrics"
	"bourse/experiments/papers/claims"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/workloadgen/config"
)

// A reading is a choice of one interpretation for each detail that a paper does not specify.
type reading struct {
	Name    string            `yaml:"name"`
	Fits    bool              `yaml:"fits"` // whether the reading reproduces the paper's numbers at both loads, by the registered rule
	Choices map[string]string `yaml:"choices"`
	Set     []string          `yaml:"set"`     // overrides of the preset
	Metrics map[string]string `yaml:"metrics"` // metrics to measure instead of the metrics named in claims
}

// registered returns the readings of the market paper.
func registered() []reading {
	var r struct {
		Readings []reading `yaml:"readings"`
	}
	if err := config.Read("market/registered.yaml", must(files.ReadFile("market/registered.yaml")), &r); err != nil {
		panic("papers: " + err.Error())
	}
	return r.Readings
}

// JudgeReadings tests the claims of the market paper under each registered reading. The
// function run returns the rows of a preset with overrides, for all metrics and the named
// ones.
func JudgeReadings(run func(preset string, sets, names []string) ([]results.Metric, error), log []results.Metric) (all []Judged, err error) {
	p := table[0].claims()
	names := slices.DeleteFunc(p.Metrics(), func(name string) bool { return metrics.Table().Members[name].New == nil })
	for _, r := range registered() {
		var found []*claims.Results
		for _, preset := range slices.Sorted(maps.Keys(table[0].presets())) {
			if !p.Concerns(preset) {
				continue
			}
			sets := slices.Clone(r.Set)
			switch preset {
			case "paper-low":
				for i := range sets {
					sets[i] = strings.Replace(sets[i], "equal-high", "equal-low", 1)
				}
			case "paper-correlated": // only jobs with Pareto-distributed values
				sets = slices.DeleteFunc(sets, func(s string) bool { return strings.Contains(s, "equal-high") })
			}
			rows, err := run(preset, sets, append(slices.Clone(names), slices.Collect(maps.Values(r.Metrics))...))
			if err != nil {
				return nil, err
			}
			one := &claims.Results{Experiment: preset, Ends: metrics.Ends()}
			for _, row := range rows {
				if _, replaced := r.Metrics[row.Metric]; replaced {
					continue
				}
				for name, instead := range r.Metrics {
					if row.Metric == instead {
						row.Metric = name
					}
				}
				one.Add(row)
			}
			found = append(found, one)
		}
		if len(log) > 0 {
			found = append(found, logResults(log))
		}
		all = append(all, Judged{Paper: p.Name, Title: p.Title, Reading: r.Name, SHA256: p.SHA256, Since: []string{}, Claims: claims.Judge(p, found)})
	}
	return all, nil
}

// OverReadings returns the verdicts on each claim under each reading, and the conclusions.
func OverReadings(all []Judged) report.Document {
	readings := registered()
	t := report.Table{Title: "Claims under the registered readings", Header: []string{"claim"}}
	for _, r := range readings {
		name := r.Name
		if r.Fits {
			name += " (fits)"
		}
		t.Header = append(t.Header, name)
	}
	t.Header = append(t.Header, "over readings", "sentence")
	t.Left = len(t.Header)
	count := make(map[string]int)
	for i, c := range all[0].Claims {
		row := report.Cells(c.ID)
		var verdicts []claims.Verdict
		for _, j := range all {
			v := j.Claims[i].Verdict
			verdicts = append(verdicts, v)
			row = append(row, report.Cell{Text: strings.ToLower(string(v)), Strong: v == claims.Contradicted})
		}
		status, decisions := over(verdicts, readings)
		if count[status]++; decisions != "" {
			status += ": " + decisions
		}
		t.Rows = append(t.Rows, append(row, report.Cells(status, c.Section+" "+clipped(c.Quote))...))
	}
	var parts []string
	for _, status := range []string{supportedInAll, openToReading, supportedInNone, undecidedOver, notTestable} {
		parts = append(parts, fmt.Sprintf("%d %s", count[status], status))
	}
	t.Note = strings.Join(parts, ", ") + ". The paper's numbers are compatible with readings A and B (interpretations of the paper), but do not show which one the authors used. We chose the readings from 755,520 variants after we had seen the paper's numbers."
	return report.Document{Tables: []report.Table{t}, Values: func([]string) any { return all }}
}

// clipped returns the beginning of a sentence.
func clipped(s string) string {
	const most = 60
	if letters := []rune(s); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return s
}

// The conclusions about a claim, based on its verdicts under all readings.
const (
	supportedInAll  = "supported in all readings"
	openToReading   = "open to reading"
	supportedInNone = "supported in no reading"
	undecidedOver   = "undecided"
	notTestable     = "not testable"
)

// over returns the conclusion from the verdicts under the readings. If a claim is supported
// under some readings but not under others, it depends on the reading. The decisions on
// which it depends are the smallest sets of choices that determine whether it is supported.
func over(verdicts []claims.Verdict, readings []reading) (status, decisions string) {
	n := make(map[claims.Verdict]int)
	for _, v := range verdicts {
		n[v]++
	}
	switch len(verdicts) {
	case n[claims.NotTestable]:
		return notTestable, ""
	case n[claims.Supported]:
		return supportedInAll, ""
	case n[claims.Undecided]:
		return undecidedOver, ""
	}
	if n[claims.Supported] == 0 {
		return supportedInNone, ""
	}
	names := slices.Sorted(maps.Keys(readings[0].Choices))
	var found []string
	for size := 1; size <= len(names) && found == nil; size++ {
		for mask := range 1 << len(names) {
			var some []string
			for i, name := range names {
				if mask>>i&1 == 1 {
					some = append(some, name)
				}
			}
			if len(some) == size && determines(some, verdicts, readings) {
				found = append(found, strings.Join(some, " and "))
			}
		}
	}
	return openToReading, strings.Join(found, ", or ")
}

// determines reports whether the given decisions determine support. This means that all
// readings with the same choices are supported, or that none of them is.
func determines(decisions []string, verdicts []claims.Verdict, readings []reading) bool {
	supported := make(map[string]bool)
	for i, r := range readings {
		key := ""
		for _, d := range decisions {
			key += r.Choices[d] + "\n"
		}
		is := verdicts[i] == claims.Supported
		if was, seen := supported[key]; seen && was != is {
			return false
		}
		supported[key] = is
	}
	return true
}
