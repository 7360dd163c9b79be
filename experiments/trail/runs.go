package trail

import (
	"fmt"
	"html"
	"math"
	"strconv"

	"bourse/experiments/report"
)

// runs writes all runs. It returns a description of the runs for which there was not enough
// space.
func (w *writer) runs(all []Run) (left string) {
	out, jobless := 0, 0
	configuration := ""
	for i := range all {
		r := &all[i]
		if w.Len() > mostPage {
			out++
			continue
		}
		if r.Configuration != configuration {
			configuration = r.Configuration
			w.put("<h3>")
			w.text(w.labels.Of(configuration))
			w.put("</h3>\n")
		}
		if !w.run(r) {
			jobless++
		}
	}
	if out > 0 {
		left += fmt.Sprintf(`<p class="note">Left out: the rows of %d of %d runs, for which a page of 20 MB has no room. <code>bourse compare RESULTS</code> shows them, and summary.csv and metrics.csv have them.</p>`+"\n", out, len(all))
	}
	if jobless > 0 {
		left += fmt.Sprintf(`<p class="note">Left out: the jobs of %d of %d runs. <code>bourse explain RESULTS --run CONFIGURATION/ADMISSION/REPLICATION --job N</code> shows one.</p>`+"\n", jobless, len(all))
	}
	return left
}

// name returns the display name of the run. The function place returns an anchor for it.
func (w *writer) name(r *Run) string {
	return w.labels.Of(r.Configuration) + ", " + w.labels.Of(r.Admission)
}

func (r *Run) place(kind string, more ...string) string {
	return report.Anchor(append([]string{kind, r.Configuration, r.Admission}, more...)...)
}

// run writes one run and reports whether there was space for its jobs.
func (w *writer) run(r *Run) (jobs bool) {
	w.put("<details>\n<summary>")
	w.text(w.name(r))
	w.put("</summary>\n")
	w.rows(r)
	w.curve(r)
	w.replications(r)
	if jobs = w.Len() < mostPage; jobs {
		w.jobs(r)
		w.prices(r)
	}
	w.put("</details>\n")
	return jobs
}

// rows writes the rows of the summary.
func (w *writer) rows(r *Run) {
	shown := min(mostValues, r.Reps)
	w.put("<h4>Rows of the summary</h4>\n")
	w.begin(w.name(r)+": rows of the summary", "metric", "+n", "+mean", "+sd", "95 % interval", "+paper", "replications, from 0")
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Mean == nil {
			continue
		}
		w.put(`<tr id="`, report.RowAnchor(r.Configuration, r.Admission, row.Metric), `">`)
		w.cell(w.labels.Of(row.Metric))
		w.number(strconv.Itoa(row.N))
		w.number(maybe(row.Mean))
		w.number(maybe(row.SD))
		w.cell(between(row.Lo95, row.Hi95))
		w.number(maybe(row.Paper))
		w.put("<td>")
		for rep, x := range row.Values[:min(shown, len(row.Values))] {
			if math.IsNaN(x) {
				w.put(none, " ")
				continue
			}
			w.link(r.place("rep", strconv.Itoa(rep)), short(x))
			w.put(" ")
		}
		w.put("</td></tr>\n")
	}
	w.end()
}

func between(lo, hi *float64) string {
	if lo == nil || hi == nil {
		return none
	}
	return short(*lo) + " to " + short(*hi)
}

// curve writes the efficiency for each alpha.
func (w *writer) curve(r *Run) {
	if len(r.Curve) == 0 || r.Curve[0].Mean == nil {
		return
	}
	w.put("<h4>Efficiency against α</h4>\n")
	w.begin(w.name(r)+": efficiency against α", "α", "+n", "+mean", "+sd", "95 % interval", "of")
	for _, p := range r.Curve {
		w.put(`<tr id="`, report.CurveAnchor(r.Configuration, r.Admission, p.Alpha), `">`)
		w.cell(short(p.Alpha))
		w.number(strconv.Itoa(p.N))
		w.number(maybe(p.Mean))
		w.number(maybe(p.SD))
		w.cell(between(p.Lo95, p.Hi95))
		w.put("<td>")
		w.link(r.place("reps"), "its replications")
		w.put("</td></tr>\n")
	}
	w.end()
}

// replications writes links to the jobs and links back to the rows.
func (w *writer) replications(r *Run) {
	var columns []int // at most six metrics that differ between replications
	for i := range r.Rows {
		if r.Rows[i].Mean != nil && len(columns) < 6 {
			columns = append(columns, i)
		}
	}
	heads := []string{"replication"}
	for _, i := range columns {
		heads = append(heads, "+"+w.labels.Of(r.Rows[i].Metric))
	}
	w.put(`<h4 id="`, r.place("reps"), `">Replications</h4>`+"\n")
	w.begin(w.name(r)+": replications", append(heads, "jobs")...)
	shown := min(mostValues, r.Reps)
	for rep := range shown {
		w.put(`<tr id="`, r.place("rep", strconv.Itoa(rep)), `">`)
		w.cell(strconv.Itoa(rep))
		for _, i := range columns {
			row := &r.Rows[i]
			w.put(`<td class="n">`)
			if rep < len(row.Values) && !math.IsNaN(row.Values[rep]) {
				w.link(report.RowAnchor(r.Configuration, r.Admission, row.Metric), short(row.Values[rep]))
			} else {
				w.put(none)
			}
			w.put("</td>")
		}
		w.put("<td>")
		if rep == 0 && len(r.Jobs) > 0 {
			w.link(r.place("jobs"), fmt.Sprintf("its %d jobs", r.AllJobs))
		} else {
			w.put("<code>bourse explain RESULTS --run ", html.EscapeString(fmt.Sprintf("%s/%s/%d", r.Configuration, r.Admission, rep)), " --job N</code>")
		}
		w.put("</td></tr>\n")
	}
	w.end()
	if r.Reps > shown {
		fmt.Fprintf(w, `<p class="note">Left out: %d of %d replications; metrics.csv has them.</p>`+"\n", r.Reps-shown, r.Reps)
	}
}

// prices writes the prices of replication 0.
func (w *writer) prices(r *Run) {
	if len(r.Prices) == 0 {
		return
	}
	w.put("<h4>Prices of replication 0</h4>\n")
	w.begin(w.name(r)+": prices of replication 0", "from, s", "+mean price, $/s")
	for _, p := range r.Prices {
		w.put(`<tr id="`, r.place("price", short(p.Time)), `"><td>`, short(p.Time), `</td><td class="n">`, short(p.MeanPrice), "</td></tr>\n")
	}
	w.end()
	if len(r.Prices) == mostPrices {
		w.put(`<p class="note">prices.parquet has all.</p>` + "\n")
	}
}
