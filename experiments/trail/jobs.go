package trail

import (
	"encoding/json"
	"fmt"
	"html"
	"sort"
	"strconv"
	"strings"

	"bourse/contracts/note"
	"bourse/experiments/results"
)

// jobs writes the jobs of replication 0 as a table, followed by the details of each job.
func (w *writer) jobs(r *Run) {
	w.put(`<h4 id="`, r.place("jobs"), `">Jobs of replication 0</h4>`+"\n<p>")
	w.link(r.place("rep", "0"), "Back to the replication")
	w.put("</p>\n")
	if len(r.Jobs) == 0 {
		w.put(`<p class="note">The run keeps no table of jobs: <code>bourse run</code> writes one with <code>--tables both</code>.</p>` + "\n")
		return
	}
	w.begin(w.name(r)+": jobs of replication 0", "job", "user", "+arrival, s", "+nodes", "+value, $", "decision", "+start, s", "+finish, s", "+paid, $", "promise")
	for i := range r.Jobs {
		j := &r.Jobs[i]
		w.put("<tr><td>")
		w.link(r.place("job", j.Job), j.Job)
		w.put("</td>")
		w.cell(j.User)
		w.number(short(j.Arrival))
		w.number(strconv.Itoa(j.Nodes))
		w.number(j.Value.String())
		w.cell(j.Decision)
		w.number(maybe(j.Start))
		w.number(maybe(j.Finish))
		w.number(dollars(j.Paid))
		w.cell(kept(j))
		w.put("</tr>\n")
	}
	w.end()
	if n := r.AllJobs - len(r.Jobs); n > 0 {
		fmt.Fprintf(w, `<p class="note">Left out: %d of %d jobs. <code>bourse explain RESULTS --run %s --job N</code> shows one.</p>`+"\n",
			n, r.AllJobs, html.EscapeString(r.path()))
	}
	w.put("<p>Again: <code>bourse explain RESULTS --run ", html.EscapeString(r.path()), " --job N</code>")
	if r.Ledger != "" {
		w.put("; <code>bourse ledger show RESULTS/", html.EscapeString(r.Ledger), " --contract N --json</code>")
	}
	w.put("</p>\n")
	for i := range r.Jobs {
		w.job(r, &r.Jobs[i])
	}
}

func (r *Run) path() string { return r.Configuration + "/" + r.Admission + "/0" }

func dollars(m *results.Money) string {
	if m == nil {
		return none
	}
	return m.String()
}

// kept describes whether the promise to the job was kept.
func kept(j *results.Job) string {
	switch {
	case j.Fulfilled == nil:
		return none
	case *j.Fulfilled:
		return "kept"
	}
	return "broken"
}

// job writes the details of one job.
func (w *writer) job(r *Run, j *results.Job) {
	w.put("<details>\n<summary>Job ")
	w.text(j.Job)
	w.put(": ", j.Decision)
	if k := kept(j); k != none {
		w.put(", promise ", k)
	}
	w.put("</summary>\n", `<p id="`, r.place("job", j.Job), `">`)
	w.link(r.place("jobs"), "Back to the jobs")
	w.put(". Asked for at ", short(j.Arrival), " s by user ")
	w.text(j.User)
	nodes := " nodes for "
	if j.Nodes == 1 {
		nodes = " node for "
	}
	w.put(": ", strconv.Itoa(j.Nodes), nodes, short(j.Runtime), " s")
	if j.Estimate != nil && *j.Estimate != j.Runtime {
		w.put(", said to be ", short(*j.Estimate), " s")
	}
	if j.Deadline != nil {
		w.put(", due at ", short(*j.Deadline), " s")
	}
	w.put(", worth $", j.Value.String(), ".</p>\n")
	w.decision(r, j)
	w.met(r, j)
	if j.Start != nil && j.Finish != nil {
		w.put("<p>Ran from ", short(*j.Start), " s to ", short(*j.Finish), " s, with ", maybe(j.Share), " CPU seconds on each node; the work done by the deadline was ",
			maybe(j.WorkDone), " of ", short(j.Work), " CPU s. Paid: $", dollars(j.Paid), "; penalty: $", dollars(j.Penalty), ".</p>\n")
	}
	w.entries(r, j)
	w.put("</details>\n")
}

// decision writes the decision, the reason, and the numbers used by the policy. They come
// from the note in the ledger.
func (w *writer) decision(r *Run, j *results.Job) {
	w.put("<p>Decided: <strong>", j.Decision, "</strong>")
	if j.Reason != "" {
		w.put(", for: ")
		w.text(j.Reason)
	}
	id, _ := strconv.ParseInt(j.Job, 10, 64)
	if own := r.Entries[id]; len(own) > 0 {
		fields, _ := note.Fields(own[0].Note)
		sep := ". Numbers that the policy used: "
		for _, f := range fields {
			if f.Name == "submit" || f.Name == "on" {
				break // the next fields are the terms, which are absent after a rejection
			}
			if x, ok := f.Value.(json.Number); ok {
				v, _ := x.Float64()
				w.put(sep)
				w.text(strings.ReplaceAll(f.Name, "_", " "))
				w.put(" ", short(v))
				sep = ", "
			}
		}
	}
	w.put(".</p>\n")
}

// met writes the prices during a job.
func (w *writer) met(r *Run, j *results.Job) {
	at := func(t float64) *results.Price {
		i := sort.Search(len(r.Prices), func(i int) bool { return r.Prices[i].Time > t })
		if i == 0 {
			return nil
		}
		return &r.Prices[i-1]
	}
	asked := at(j.Arrival)
	if asked == nil && j.Bid == nil {
		return
	}
	w.put("<p>Prices: ")
	if asked != nil {
		w.put("$")
		w.link(r.place("price", short(asked.Time)), short(asked.MeanPrice))
		w.put("/s, the mean of all hosts at the submission")
	}
	if j.Finish != nil {
		if ended := at(*j.Finish); ended != nil {
			w.put("; $")
			w.link(r.place("price", short(ended.Time)), short(ended.MeanPrice))
			w.put("/s when the job ended")
		}
	}
	if j.Bid != nil {
		w.put("; bid of the job for all nodes: $", short(*j.Bid), "/s")
	}
	w.put(".</p>\n")
}

// mostNote is the maximum length of a displayed note.
const mostNote = 400

// entries writes the ledger entries of a job.
func (w *writer) entries(r *Run, j *results.Job) {
	id, _ := strconv.ParseInt(j.Job, 10, 64)
	own := r.Entries[id]
	if len(own) == 0 {
		if r.Entries == nil {
			w.put(`<p class="note">No ledger of this run is kept.</p>` + "\n")
		}
		return
	}
	w.begin("Entries of job "+j.Job+", "+w.name(r), "entry", "+at, s", "kind", "moves", "note", "hash")
	for i := range own {
		e := &own[i]
		w.put(`<tr id="`, r.place("entry", strconv.FormatInt(e.Seq, 10)), `"><td>`)
		w.link(r.place("job", j.Job), strconv.FormatInt(e.Seq, 10))
		w.put("</td>")
		w.number(short(e.Time))
		w.cell(e.Kind.String())
		w.put("<td>")
		for k, m := range e.Moves {
			if k == 20 {
				fmt.Fprintf(w, "and %d more", len(e.Moves)-k)
				break
			}
			w.put("$", m.Amount.String(), " ")
			w.text(m.From + " → " + m.To)
			w.put("<br>")
		}
		text := string(e.Note)
		if len(text) > mostNote {
			text = strings.ToValidUTF8(text[:mostNote], "") + "…"
		}
		// Lines may be broken after numbers.
		w.put(`</td><td class="w">`, strings.ReplaceAll(html.EscapeString(text), ",", ",<wbr>"))
		w.put("</td><td><code>", e.Hash.String(), "</code></td></tr>\n")
	}
	w.end()
}
