package trail

import (
	"html/template"

	"bourse/bank"
	"bourse/experiments/report"
	"bourse/experiments/results"

	"golang.org/x/mod/sumdb/tlog"
)

// A Trail contains the data behind the figures of a page.
type Trail struct {
	Labels report.Labels
	Runs   []Run // each policy in each configuration, in the order of the files
}

// A Run is one policy in one configuration.
type Run struct {
	Configuration, Admission string

	Rows  []Row
	Curve []results.Point // efficiency at every alpha
	Reps  int

	// Of replication 0:
	Jobs    []results.Job // the first, or all
	AllJobs int           // number of jobs; 0 if no table of them is stored
	Prices  []results.Price
	Entries map[int64][]Entry // entries of those jobs, in order; nil if no ledger is stored
	Ledger  string            // its path in the results
}

// A Row is a metric of a run, with its value in each replication, NaN where it is
// undefined.
type Row struct {
	results.Summary
	Values []float64
}

// An Entry is a ledger entry.
type Entry struct {
	bank.Entry
	Hash tlog.Hash
}

const (
	mostPage   = 16 << 20 // maximum bytes of a trail: a page may have 20 MB
	mostValues = 20       // replications of a row to show
	mostPrices = 400      // intervals of a run to show
)

// Jobs returns the number of jobs per run for which there is room, with the given number of
// runs.
func Jobs(runs int) int { return max(10, min(400, 4000/max(1, runs))) }

// Prices is the number of prices per run for which there is room.
func Prices() int { return mostPrices }

// Section returns the section of the page.
func (t *Trail) Section() report.Section {
	w := &writer{labels: t.Labels}
	left := w.runs(t.Runs)
	s := report.Section{Name: "rows", Title: "Every number, to the micro-dollar",
		Lead: "A row of the summary links to its replications, a replication to its jobs, a job to its decision, its prices and its entries in the ledger. RESULTS is the directory of this page."}
	s.Body = template.HTML(w.String() + left)
	return s
}
