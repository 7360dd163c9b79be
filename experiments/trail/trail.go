package trail

import (
	"html/template"

	"bourse/bank"
	"bourse/experiments/report"
	"bourse/experiments/results"

	"golang.org/x/mod/sumdb/tlog"
)

// A Trail contains the data on which the figures of a page are based.
type Trail struct {
	Labels report.Labels
	Runs   []Run // each policy in each configuration, in the order of the files
}

// A Run is the run of one policy in one configuration.
type Run struct {
	Configuration, Admission string

	Rows  []Row
	Curve []results.Point // efficiency at every alpha
	Reps  int

	// The following fields describe replication 0.
	Jobs    []results.Job // the first jobs, or all jobs
	AllJobs int           // number of jobs; 0 if the results have no table of jobs
	Prices  []results.Price
	Entries map[int64][]Entry // ledger entries of these jobs, in order; nil if no ledger is stored
	Ledger  string            // path of the ledger in the results
}

// A Row is a metric of a run with its value in each replication. The value is NaN if the
// metric is undefined.
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
	mostPage   = 16 << 20 // maximum size of a trail in bytes; a page may have 20 MB
	mostValues = 20       // maximum number of replications shown for a row
	mostPrices = 400      // maximum number of price intervals shown for a run
)

// Jobs returns the number of jobs per run for which there is space, given the number of
// runs.
func Jobs(runs int) int { return max(10, min(400, 4000/max(1, runs))) }

// Prices returns the number of prices per run for which there is space.
func Prices() int { return mostPrices }

// Section returns the section of the page.
func (t *Trail) Section() report.Section {
	w := &writer{labels: t.Labels}
	left := w.runs(t.Runs)
	s := report.Section{Name: "rows", Title: "Every number, to the micro-dollar",
		Lead: "A row of the summary links to its replications, and a replication to its jobs. A job links to its decision, its prices and its entries in the ledger. RESULTS is the directory of this page."}
	s.Body = template.HTML(w.String() + left)
	return s
}
