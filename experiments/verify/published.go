package verify

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"bourse/bank/audit"
	"bourse/bank/whole"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// Published returns the published data of each run in the results r of experiment e. The runs
// are named "configuration/admission/replication". The data are the run's rows in the tables
// of jobs and prices, and the rules that determine charges. If a table cannot be read,
// Published adds a finding.
func Published(r *results.Dir, e scenario.Experiment, runs []string) []*Run {
	e = e.Expanded()
	all := make([]*Run, len(runs))
	at := make(map[string]*Run)
	of := make(map[string]bool) // wanted replications
	for i, run := range runs {
		all[i] = &Run{Table: r.File("jobs")}
		if c, a := find(&e, run); c != nil {
			all[i].Rules = RulesOf(c, a)
			all[i].Rules.Version = r.Manifest.Rules
		}
		at[run] = all[i]
		of[run[strings.LastIndexByte(run, '/')+1:]] = true
	}
	replications := func(n int) bool { return of[strconv.Itoa(n)] }
	var unread []audit.Finding
	cannot := func(file string, err error) {
		unread = append(unread, audit.Finding{File: file, Found: err.Error(), Want: "a readable table"})
	}
	var last rowOf
	var run *Run
	for p, err := range r.Prices(replications) {
		if err != nil {
			if r.File("prices") != "" {
				cannot(r.File("prices"), err)
			}
			break
		}
		if row := (rowOf{p.Configuration, p.Admission, p.Replication}); row != last {
			last, run = row, at[row.run()]
		}
		if run != nil {
			run.Prices = append(run.Prices, p.MeanPrice)
		}
	}
	rows, err := jobsIn(r, func(run string) bool { return at[run] != nil }, replications)
	if err != nil {
		cannot(r.File("jobs"), err)
	}
	for run := range at {
		at[run].Jobs, at[run].Unread = rows[run], unread
	}
	return all
}

// A rowOf identifies the run to which a row belongs.
type rowOf struct {
	configuration, admission string
	replication              int
}

// run returns the name of the run.
func (r rowOf) run() string {
	return fmt.Sprintf("%s/%s/%d", r.configuration, r.admission, r.replication)
}

// jobsIn returns the job rows of the wanted runs, keyed by run. It reads only the rows of
// the given replications.
func jobsIn(r *results.Dir, wanted func(run string) bool, replications func(int) bool) (map[string]Rows, error) {
	table := r.File("jobs")
	if filepath.Ext(table) == ".csv" {
		f, err := whole.Open(filepath.Join(r.Path, table))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return ReadJobs(f, wanted)
	}
	runs := make(map[string]Rows)
	if table == "" {
		return runs, nil
	}
	row := 0
	var last rowOf
	run, kept := "", false
	for j, err := range r.Jobs(replications, &row) {
		if err != nil {
			return nil, err
		}
		if row := (rowOf{j.Configuration, j.Admission, j.Replication}); run == "" || row != last {
			last, run = row, row.run()
			kept = wanted(run)
		}
		if !kept {
			continue
		}
		id, err := strconv.ParseInt(j.Job, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("jobs, row %d, column job: %.40q, want an integer", row, j.Job)
		}
		number := func(x *float64) float64 {
			if x == nil {
				return math.NaN()
			}
			return *x
		}
		amount := func(m *results.Money) audit.Money {
			if m == nil {
				return none
			}
			return audit.Money(*m)
		}
		one := Job{
			Row: row, Old: r.Manifest.Format == 1, ID: id, User: j.User, Arrival: j.Arrival, Work: j.Work, Deadline: number(j.Deadline), Bid: number(j.Bid), Share: number(j.Share), Nodes: j.Nodes, Value: audit.Money(j.Value),
			Decision: j.Decision, Reason: j.Reason, Start: number(j.Start), End: number(j.Finish), WorkDone: number(j.WorkDone),
			Paid: amount(j.Paid), Penalty: amount(j.Penalty), Owed: amount(j.PenaltyOwed), OwedKnown: j.PenaltyOwed != nil,
		}
		if one.Estimate = j.Runtime; j.Estimate != nil {
			one.Estimate = *j.Estimate
		}
		if j.Fulfilled != nil {
			one.Fulfilled = strconv.FormatBool(*j.Fulfilled)
		}
		rows := runs[run]
		*rows.add() = one
		runs[run] = rows
	}
	return runs, nil
}

// find returns the configuration and the policy of a run. It returns nil if e has no such
// run.
func find(e *scenario.Experiment, run string) (*scenario.Configuration, *scenario.Choice) {
	for i := range e.Configurations {
		c := &e.Configurations[i]
		for k := range c.Admission {
			if strings.HasPrefix(run, c.Name+"/"+c.Admission[k].Label+"/") {
				return c, &c.Admission[k]
			}
		}
	}
	return nil, nil
}

// RulesOf returns the newest version of the rules of c under policy a.
func RulesOf(c *scenario.Configuration, a *scenario.Choice) *Rules {
	r := &Rules{
		Version: results.Rules,
		Payment: c.Market.Payment, Sharing: c.Market.Sharing.Name,
		Hosts: c.Fleet.Hosts, CPUs: c.Fleet.CPUs, Sizes: c.Fleet.Sizes, Cap: c.Fleet.Cap, Speeds: c.Fleet.Speeds,
		Floor: c.Fleet.Floor.CPU / 3600, Reserve: c.Market.Reserve, Held: heldBy(c), Licences: licencesOf(c), Kinds: kindsOf(&c.Fleet),
		Leave: c.Fleet.Availability != nil, Packed: c.Workload.Packs(),
		Offers: a.Negotiate != "" && a.Negotiate != scenario.Never,
	}
	if c.Horizon != nil {
		r.Horizon = *c.Horizon
	}
	if r.Late = c.Market.Instant != "ends-first"; a.Name == "be" { // only in the spot market
		r.Renew = c.Market.Renew
	}
	weight := c.Market.Sharing.Options()["weight"]
	if r.Payment == "free" {
		r.Floor = 0
	}
	if a.Sharing != nil {
		r.Sharing = a.Sharing.Name
		weight = a.Sharing.Options()["weight"]
	}
	if r.Sharing == maxmin && weight == "bid" {
		r.Sharing = "auction"
	}
	if len(r.Speeds) == 0 {
		r.Speeds = []float64{c.Fleet.Speed}
	}
	r.Sold, r.Booked = soldBy(a), bookedBy(c, a)
	return r
}

// kindsOf returns the kind of each host: the index of the first host with the same resources. The
// list repeats. It is empty if all hosts have the same resources.
func kindsOf(f *scenario.Fleet) (kinds []int) {
	if len(f.Held)+len(f.Whole) == 0 {
		return nil
	}
	for h := range min(f.Hosts, max(1, len(f.Held))*max(1, len(f.Whole))) {
		as := 0
		for f.WholeOf(as) != f.WholeOf(h) || !reflect.DeepEqual(f.HeldOf(as), f.HeldOf(h)) {
			as++
		}
		kinds = append(kinds, as)
	}
	return kinds
}

// licencesOf returns the licences of the market of c.
func licencesOf(c *scenario.Configuration) map[string]Licence {
	all := make(map[string]Licence)
	for name, n := range c.Market.Licences {
		l := Licence{Units: float64(n), Floor: c.Fleet.Floor.Held[name] / 3600}
		if c.Market.Payment == "free" || c.Market.Payment == "budget" {
			l.Floor = 0
		}
		all[name] = l
	}
	return all
}

// heldBy returns the resources of the hosts of c other than processors. It returns nil if none
// of them has a price or a floor price.
func heldBy(c *scenario.Configuration) *Held {
	f := &c.Fleet
	if len(c.Market.Resources)+len(f.Floor.Held) == 0 {
		return nil
	}
	rooms := f.Held
	if len(rooms) == 0 {
		rooms = []scenario.Held{{Memory: f.Memory, Disk: f.Disk, Bandwidth: f.Bandwidth, Count: f.Count}}
	}
	h := &Held{Priced: make(map[string]bool), Floors: make(map[string]float64)}
	for _, one := range rooms {
		room := map[string]float64{"memory": one.Memory, "disk": one.Disk, "bandwidth": one.Bandwidth}
		for name, n := range one.Count {
			room[name] = float64(n)
		}
		h.Rooms, h.Names = append(h.Rooms, room), slices.AppendSeq(h.Names, maps.Keys(room))
	}
	for _, name := range c.Market.Resources {
		h.Priced[name], h.Names = true, append(h.Names, name)
	}
	for name, price := range f.Floor.Held {
		if _, licence := c.Market.Licences[name]; licence {
			continue
		}
		if h.Floors[name], h.Names = price/3600, append(h.Names, name); slices.Contains([]string{"memory", "disk", "bandwidth"}, name) {
			h.Floors[name] = price / 3600 / 1e9
		}
	}
	if h.Names = order(h.Names); c.Market.Payment == "free" {
		clear(h.Floors)
	}
	return h
}

// soldBy returns the options of policy a if the policy sets rates, or nil.
func soldBy(a *scenario.Choice) *Sold {
	o := &Sold{Policy: a.Name, Losers: "wait"}
	switch a.Name {
	case "posted":
		o.Shape, o.At, o.Low, o.High, o.Power = "fixed", "marginal", 0.001, 0.01, 1
	case "spot":
		o.Every, o.Notice, o.Reserve, o.Fill, o.Interrupted = 300, 120, 0.0001, true, "resume"
	case "call":
		o.Every, o.K, o.Asks = 300, 0.5, []float64{0.0001}
	case "karma", "slices":
		o.Every, o.Divides = 60, true
	default:
		return nil
	}
	o.read(a)
	return o
}

// bookedBy returns the options of policy a in c if the policy sells intervals at its own
// prices, or nil.
func bookedBy(c *scenario.Configuration, a *scenario.Choice) *Booked {
	o := &Booked{Sold: Sold{Policy: a.Name, Shape: "fixed", Low: 0.001, High: 0.01, Power: 1, Every: 300, Losers: "wait"}, Width: 3600, CancelFee: 0.1, Rule: "vcg", Exact: 24, Norm: 0.5}
	if a.Name != "windows" && a.Name != "bundle" {
		return nil
	}
	o.read(a)
	for name, x := range a.Options() {
		number, _ := strconv.ParseFloat(fmt.Sprint(x), 64)
		switch name {
		case "prices":
			o.Prices = pricesOf(x)
		case "width":
			o.Width = number
		case "cancel_fee":
			o.CancelFee = number
		case "ahead":
			o.Ahead = int(number)
		case "rule":
			o.Rule = fmt.Sprint(x)
		case "exact":
			o.Exact = int(number)
		case "norm":
			o.Norm = number
		}
	}
	w := &c.Workload
	annotated := map[string]any{}
	o.Leads = w.Plan != "" || w.Annotate.Decode(&annotated) != nil || annotated["reservations"] != nil
	o.Follows = w.Preceding != "ignored" && (w.Plan != "" || w.SWF != "" || w.Model != nil && w.Model.Options()["file"] != nil)
	o.Hard = c.SLA.Deadline == "hard" && !c.SLA.RunsOn
	return o
}

// pricesOf returns the list of prices in an option.
func pricesOf(x any) (all []float64) {
	list, _ := x.([]any)
	for _, one := range list {
		price, _ := strconv.ParseFloat(fmt.Sprint(one), 64)
		all = append(all, price)
	}
	return all
}

// read sets the options of o that a contains.
func (o *Sold) read(a *scenario.Choice) {
	numbers := map[string]*float64{
		"low": &o.Low, "high": &o.High, "power": &o.Power, "every": &o.Every, "notice": &o.Notice, "reserve": &o.Reserve, "k": &o.K,
		"ondemand": &o.OnDemand, "restore": &o.Restore,
	}
	texts := map[string]*string{"shape": &o.Shape, "at": &o.At, "interrupted": &o.Interrupted, "losers": &o.Losers}
	for name, x := range a.Options() {
		text := fmt.Sprint(x)
		switch {
		case numbers[name] != nil:
			*numbers[name], _ = strconv.ParseFloat(text, 64)
		case texts[name] != nil:
			*texts[name] = text
		case name == "fill":
			o.Fill = text == "true"
		case name == "bidding":
			o.Buyers = text == "progress"
		case name == "uniform":
			o.Drawn = true
		case name == "asks":
			o.Asks = pricesOf(x)
		}
	}
}
