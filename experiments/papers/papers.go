// Package papers holds each paper's experiments as scenario files, and its
// claims.
//
// It knows names of policies and metrics as text and no formula. Those are where
// their rules are used:
//
// # Index of equations
//
//	Market        eq. 1           workloadgen/dist.HypWeib.Quantile          time between arrivals
//	Market        eq. 2           workloadgen/dist.PolyLin.Quantile          runtime
//	Market        eq. 3           workloadgen/dist.NewBinBin                 size
//	Market        eq. 4           market.Quote                               share that a bid obtains
//	Market        eq. 5           contracts/admission.Statistical.Decide     SAC
//	Market        eq. 6           market.Kept                                share that is left beside another bid
//	Market        eq. 6           contracts/admission.Capacity.static        CAC
//	Market        eq. 7           contracts.Inelastic                        utility of all or nothing
//	Market        eq. 8           contracts.Elastic                          utility of partial work
//	Market        eq. 9           contracts.Mixed                            utility of a user of inelasticity alpha
//	Market        §4.2            experiments/optimum.Solver.Solve           U*, which efficiency is measured by
//	Market        eq. 10 to 17    experiments/advise.Inelastic               when to reserve; 14 to 17 are cases
//	Market        eq. 18          experiments/advise.Elastic                 the same of partial work
//	Risk          eq. 1           contracts/sharing.Required                 share needed by the deadline
//	Risk          eq. 2           contracts/admission.needs                  sum of them on a node
//	Risk          eq. 3           contracts/settlement.Case.delay            delay
//	Risk          eq. 4           contracts/admission.DeadlineDelay          delay against the time left
//	Risk          eq. 5 to 6      contracts/admission.RiskOf                 its mean and deviation over a node
//	Risk          Algorithm 1     contracts/admission.LibraRisk.Decide       LibraRisk
//	SLA           eq. 1           contracts.Penalty.Of                       what delay costs
//	SLA           eq. 1           contracts/sharing.Terms.Utility            utility, as it is planned
//	SLA           eq. 2           contracts/settlement.Case.delay            delay
//	SLA           eq. 3           contracts/sharing.Required                 share needed by the deadline
//	SLA           eq. 4           contracts/sharing.Plan.need                sum of them on a node
//	SLA           eq. 5           contracts/sharing.Terms.Return             return of a job on a node
//	SLA           eq. 6           contracts/sharing.Plan.judge               return of a node
//	SLA           Algorithm 1     contracts/admission.LibraSLA.Decide        LibraSLA
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
	"slices"
	"strings"

	"bourse/experiments/papers/claims"
)

//go:embed mixed.yaml spot-or-reserve.yaml market/paper.yaml market/kth.yaml librarisk/figure*.yaml librasla/figure*.yaml reservations/e*.yaml volunteers/*.yaml */claims.yaml
var files embed.FS

// swept are the papers of which every figure or experiment is a preset.
var swept = []string{"librarisk", "librasla", "reservations", "volunteers"}

// Presets returns the scenario files by the name of their experiment: paper,
// librarisk-figure1 and so on; kth, mixed and spot-or-reserve are of no paper.
func Presets() map[string][]byte {
	presets := map[string][]byte{
		"paper": read("market/paper.yaml"), "kth": read("market/kth.yaml"), "mixed": read("mixed.yaml"),
		"spot-or-reserve": read("spot-or-reserve.yaml"),
	}
	for _, paper := range swept {
		list, err := files.ReadDir(paper)
		if err != nil {
			panic("papers: " + err.Error())
		}
		for _, f := range list {
			if name, ok := strings.CutSuffix(f.Name(), ".yaml"); ok && name != "claims" {
				presets[paper+"-"+name] = read(paper + "/" + f.Name())
			}
		}
	}
	return presets
}

// Names returns what may be run by name: the presets, and the papers of which every
// figure is one.
func Names() []string { return append(slices.Sorted(maps.Keys(Presets())), swept...) }

// Figures returns the names of the presets that repeat the figures of a paper, or
// the experiments whose figures are lost, sorted; none if it is none of librarisk,
// librasla, reservations and volunteers.
func Figures(paper string) []string {
	if !slices.Contains(swept, paper) {
		return nil
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(Presets())) {
		if strings.HasPrefix(name, paper+"-") {
			names = append(names, name)
		}
	}
	return names
}

// OfModels reports whether a preset is of models of availability, so that a recorded
// trace has no place in it.
func OfModels(preset string) bool { return strings.HasPrefix(preset, "volunteers-models") }

// Claims returns the claims of every paper.
func Claims() []claims.Paper {
	var all []claims.Paper
	for _, paper := range []string{"market", "librarisk", "librasla", "reservations", "volunteers"} {
		name := paper + "/claims.yaml"
		p, err := claims.Read(name, read(name))
		if err != nil {
			panic("papers: " + err.Error())
		}
		all = append(all, p)
	}
	return all
}

// read returns a file that was compiled in.
func read(name string) []byte {
	data, err := files.ReadFile(name)
	if err != nil {
		panic("papers: " + err.Error())
	}
	return data
}
