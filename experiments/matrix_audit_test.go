package experiments

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"bourse/bank/audit"
	"bourse/experiments/results"
	"bourse/experiments/verify"
)

// audit audits the ledger of run like `bourse ledger audit RESULTS`: it compares the ledger
// with the published rows and applies the rules of the market. Only the ledgers of first
// replications are stored.
func (run *toldRun) audit(r *told) error {
	if run.journal.fs == nil {
		return nil
	}
	c := run.set.conf
	text := jobsCSV(jobRows(c, run.offer.Label, run.rep, run.Jobs, run.Outcome.Volatile))
	key := fmt.Sprintf("%s/%s/%d", c.Name, run.offer.Label, run.rep)
	rows, err := verify.ReadJobs(strings.NewReader(text), func(string) bool { return true })
	if err != nil {
		return err
	}
	report, err := audit.Audit("ledger", audit.Options{
		FS: run.journal.fs, Head: run.journal.head, Whole: true,
		Follow: verify.Follow(&verify.Run{Table: "jobs.csv", Rules: verify.RulesOf(c, &run.offer.Choice), Jobs: rows[key], Prices: run.Prices}),
	})
	if err != nil {
		return err
	}
	if !report.Clean() {
		return errors.New(report.Findings[0].String())
	}
	if report.Held != 0 || report.Admitted != report.Settled {
		return fmt.Errorf("%v are held, %d contracts admitted and %d settled", report.Held, report.Admitted, report.Settled)
	}
	return nil
}

// jobsCSV writes rows in the form of jobs.csv.
func jobsCSV(rows []results.Job) string {
	var b strings.Builder
	out := csv.NewWriter(&b)
	typ := reflect.TypeFor[results.Job]()
	var line []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("parquet"), ",")
		line = append(line, name)
	}
	out.Write(line)
	for _, row := range rows {
		v := reflect.ValueOf(row)
		for i := range line {
			line[i] = cellOf(v.Field(i))
		}
		out.Write(line)
	}
	out.Flush()
	return b.String()
}

func cellOf(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case float64:
		if math.IsNaN(x) {
			return "NaN"
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	case results.Money:
		return fmt.Sprintf("%d.%06d", x/1e6, x%1e6)
	}
	return fmt.Sprint(v.Interface())
}
