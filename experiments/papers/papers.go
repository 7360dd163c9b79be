// Package papers contains one folder per paper. Each folder contains the experiments as
// scenario files, the claims (claims.yaml), the printed numbers (reference.yaml) and, if
// needed, code for figures.
//
// The package treats the names of policies and metrics as text and contains no formulas. To
// add a paper, create its folder and add a line to the table below.
//
// The formulas of the papers are in the packages that use them:
//
// # Index of equations
//
//	Market        eq. 1           workloadgen/dist.HypWeib.Quantile          time between arrivals
//	Market        eq. 2           workloadgen/dist.PolyLin.Quantile          runtime
//	Market        eq. 3           workloadgen/dist.NewBinBin                 size
//	Market        eq. 4           market.Quote                               share that a bid obtains
//	Market        eq. 5           contracts/admission.Statistical.Decide     SAC
//	Market        eq. 6           market.ShareIf                                share that is left next to another bid
//	Market        eq. 6           contracts/admission.Capacity.static        CAC
//	Market        eq. 7           contracts.Inelastic                        utility of all or nothing
//	Market        eq. 8           contracts.Elastic                          utility of partial work
//	Market        eq. 9           contracts.Mixed                            utility of a user of inelasticity alpha
//	Market        §4.2            experiments/optimum.Solver.Solve           U*, which efficiency is measured by
//	Market        eq. 10 to 17    experiments/advise.Inelastic               when to reserve; 14 to 17 are cases
//	Market        eq. 18          experiments/advise.Elastic                 the same of partial work
//	Risk          eq. 1           contracts/sharing.Required                 share needed by the deadline
//	Risk          eq. 2           contracts/admission/libra.needs            sum of them on a node
//	Risk          eq. 3           contracts/settlement.Case.delay            delay
//	Risk          eq. 4           contracts/admission/libra.DeadlineDelay    delay against the time left
//	Risk          eq. 5 to 6      contracts/admission/libra.RiskOf           its mean and deviation over a node
//	Risk          Algorithm 1     contracts/admission/libra.LibraRisk.Decide LibraRisk
//	SLA           eq. 1           contracts.Penalty.Of                       what delay costs
//	SLA           eq. 1           contracts/sharing.Terms.Utility            utility, as it is planned
//	SLA           eq. 2           contracts/settlement.Case.delay            delay
//	SLA           eq. 3           contracts/sharing.Required                 share needed by the deadline
//	SLA           eq. 4           contracts/sharing.Plan.need                sum of them on a node
//	SLA           eq. 5           contracts/sharing.Terms.Return             return of a job on a node
//	SLA           eq. 6           contracts/sharing.Plan.Judge               return of a node
//	SLA           Algorithm 1     contracts/admission/libra.LibraSLA.Decide  LibraSLA
//	SLA           Algorithm 2     contracts/sharing.Plan.divide              shares of a node
//	Reservations  eq. 3.1         hosts/timetable.entry.latest               laxity: the latest start
//	Reservations  eq. 3.2         hosts/timetable.trial.search               remaining laxity: starts in time
//	Reservations  eq. 3.3 to 3.4  hosts/timetable.trial.count                laxity that others lose
//	Reservations  §2              hosts/matchmaking.Together                 co-reservations
//	Reservations  §3.1.7          hosts/matchmaking.MinImpact.Match          MLI
//	Reservations  eq. 4.1         experiments/metrics.RejectionsAR           P_b
//	Reservations  eq. 4.2         experiments/metrics.ClusterUtilization     U, of the clusters
//	Reservations  eq. 4.2         hosts/timetable.Quote.Utilization          U, so far
//	Volunteers    §3              hosts/availability/predictors.TDE.Predict  TDE
//	Volunteers    eq. 1           hosts/availability/sched.PPS.score         PPS
//	Volunteers    §4              hosts/availability/sched.Threshold.Match   the paper's algorithm
package papers

import (
	"embed"
	"maps"
	"path"
	"slices"
	"strings"

	"bourse/experiments/papers/claims"
	"bourse/experiments/papers/market"
)

//go:embed *.yaml */*.yaml
var files embed.FS

// A Paper consists of its folder and its code.
type Paper struct {
	Name    string // name of the folder
	Swept   bool   // whether each scenario is a figure or an experiment of the paper; its preset is then called NAME-FILE instead of FILE
	Figures Draw
	Against func(market.Printed) []string                                // function that returns contradictions within the paper; nil if none is known
	Error   func(market.Printed, string, string, string) (float64, bool) // function that returns the standard error of a number for a configuration, policy and metric; nil if none is known
}

// table lists the papers. The first paper is the default.
var table = []Paper{
	{Name: "market", Figures: market.Figures, Against: market.Against, Error: market.Error},
	{Name: "librarisk", Swept: true},
	{Name: "librasla", Swept: true},
	{Name: "reservations", Swept: true},
	{Name: "volunteers", Swept: true},
}

// Presets returns the scenario files, keyed by the name of the experiment, such as paper or
// librarisk-figure1. The presets adaptive, kth, mixed, negotiation, spot-or-reserve and
// the presets that compare mechanisms do not belong to a paper.
func Presets() map[string][]byte {
	presets := make(map[string][]byte)
	for _, p := range append([]Paper{{Name: "."}}, table...) {
		for name, file := range p.presets() {
			presets[name] = must(files.ReadFile(file))
		}
	}
	return presets
}

// notPresets are the names of YAML files that are not scenarios.
var notPresets = []string{"claims", "readings", "reference", "registered", "reproduction"}

// presets returns the paths of the scenario files of p, keyed by the name of the
// experiment.
func (p Paper) presets() map[string]string {
	presets := make(map[string]string)
	for _, f := range must(files.ReadDir(p.Name)) {
		name, ok := strings.CutSuffix(f.Name(), ".yaml")
		if !ok || slices.Contains(notPresets, name) {
			continue
		}
		if p.Swept {
			name = p.Name + "-" + name
		}
		presets[name] = path.Join(p.Name, f.Name())
	}
	return presets
}

// Readings returns the files of readings, keyed by name, such as market-readings.
func Readings() map[string][]byte {
	all := make(map[string][]byte)
	for _, p := range table {
		if data, err := files.ReadFile(p.Name + "/readings.yaml"); err == nil {
			all[p.Name+"-readings"] = data
		}
	}
	return all
}

// Names returns the names of all presets, and the names of the papers whose figures are
// presets.
func Names() []string {
	names := slices.Sorted(maps.Keys(Presets()))
	for _, p := range table {
		if p.Swept {
			names = append(names, p.Name)
		}
	}
	return names
}

// Figures returns the sorted names of the presets that are figures or experiments of a
// paper. It returns nil for any other name.
func Figures(paper string) []string {
	for _, p := range table {
		if p.Name == paper && p.Swept {
			return slices.Sorted(maps.Keys(p.presets()))
		}
	}
	return nil
}

// OfModels reports whether a preset requires availability models, which a recorded trace
// cannot replace.
func OfModels(preset string) bool {
	return slices.ContainsFunc(table, func(p Paper) bool { return slices.Contains(p.reference().Modelled, preset) })
}

// Labels returns the spelling of names in the papers, if it differs from the usual form.
func Labels() map[string]string {
	labels := make(map[string]string)
	for _, p := range table {
		maps.Copy(labels, p.reference().Labels)
	}
	return labels
}

// Claims returns the claims of every paper.
func Claims() []claims.Paper {
	var all []claims.Paper
	for _, p := range table {
		all = append(all, p.claims())
	}
	return all
}

func (p Paper) claims() claims.Paper {
	name := p.Name + "/" + claimsFile
	return must(claims.Read(name, must(files.ReadFile(name))))
}

// must returns v, which was read from an embedded file. It panics if there was an error,
// because that would be a bug.
func must[T any](v T, err error) T {
	if err != nil {
		panic("papers: " + err.Error())
	}
	return v
}
