package live

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	bankorder "bourse/bank/order"
	"bourse/contracts"
	"bourse/contracts/order"
	"bourse/experiments/scenario"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/traces"
	"bourse/hosts/remote"
	"bourse/workloadgen"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An Exported is a live market in the form of a scenario. The plan consists of the requests
// that the market received, with the market's rules and hosts. Times in the scenario start one
// price window before the first host joined. Each job has the number of its contract within
// the market.
//
// If a program ended by itself, the work of its job is the work that the program received. If
// a program was still running at its deadline with all the requested work done, the work of
// its job is more than the host can do by the deadline. The live market fulfilled the promise
// in that case, but a simulation violates it. The work of other jobs, such as rejected ones,
// is the requested work.
type Exported struct {
	Scenario scenario.Experiment
	Plan     workloadgen.Plan
	Hosts    *availability.Trace // times at which hosts were present; nil means that every host was always present
	Notes    []string            // known omissions and approximations of the scenario
	Accounts []string            // users 1, 2, … of the plan
	Outcomes []Outcome           // outcomes in the live market, one per job
}

// An Outcome is the live market's decision on a job and the end of the job's contract.
type Outcome struct {
	Job      int64
	Decision string // accept, reject or defer; empty if unknown
	Reason   string
	State    string  // open if the contract had not ended
	Ended    float64 // end in seconds on the plan's time axis
	Paid     float64 // payment in dollars
}

// Export reads the log in dir. The market must not be running.
func Export(dir string, fs vfs.FS) (*Exported, error) {
	past, err := readHistory(dir, fs)
	if err != nil {
		return nil, err
	}
	defer past.db.Close()
	k, as := past.core, past.as
	x := &exporter{conf: &past.conf, number: as.Number, next: k.next, hosts: make(map[string]*exportedHost), jobs: make(map[int64]*exportedJob)}
	for _, h := range k.hosts {
		if !h.removed {
			x.joined(k.now, &h.join, !h.gone)
		}
	}
	x.already = len(k.open)
	for seq, r := range past.records(past.from+1, &err) {
		x.end = r.Now
		for i := range r.Messages {
			if err := x.read(r.Now, &r.Messages[i]); err != nil {
				return nil, fmt.Errorf("record %d: %w", seq, err)
			}
		}
	}
	asked := x.asked
	x.asked = nil
	for _, j := range asked {
		var c Contract
		known, e := past.get(key(contractTable, as.Number<<perMarket|j.ID), &c)
		if e == nil && known {
			e = x.finish(j, &c)
		}
		if err = errors.Join(err, e); x.exports(j) {
			x.asked = append(x.asked, j)
		}
	}
	if err != nil {
		return nil, err
	}
	return x.exported(past.conf.seed(as.Ledger))
}

// An exporter reads the log of a market.
type exporter struct {
	conf   *Config
	number int64 // number of the market
	next   int64 // contract, within the market
	end    float64
	hosts  map[string]*exportedHost
	order  []*exportedHost // hosts in the order in which they joined
	jobs   map[int64]*exportedJob
	asked  []*exportedJob

	already, unpaid, foreign, drained, endless, early, rebids int
}

// An exportedHost is a host and the periods in which it was present.
type exportedHost struct {
	hosts.Spec
	there []availability.Record // start and end times; the last period has no end if the host is still present
	work  map[int64]float64     // work that each task has received, keyed by task name
}

// An exportedJob is a job of the plan, with times of the market's clock, and its outcome in
// the live market.
type exportedJob struct {
	workloadgen.Job
	live    Outcome
	account string
	early   bool // the market rejected the request before its policy saw it
}

func (x *exporter) read(now float64, m *message) error {
	switch {
	case m.Submit != nil:
		return x.submit(now, m.Submit)
	case m.Orphan != nil:
		x.next = max(x.next, m.Orphan.Contract-x.number<<perMarket+1)
	case m.Cancel != "":
		signed, err := bankorder.Open([]byte(m.Cancel))
		if err != nil {
			return err
		}
		id, err := order.Contract(signed.Order)
		if err != nil {
			return err
		}
		j := x.jobs[Short(id)]
		if j != nil && j.account == signed.Value("account") && j.Cancel == 0 && now > j.Arrival {
			j.Cancel = now - j.Arrival
		}
	case m.Bid != "":
		x.rebids++
	case m.Join != nil:
		x.joined(now, m.Join, true)
	case m.Report != nil:
		if h := x.hosts[m.Report.Host]; h != nil {
			for _, s := range m.Report.Spans {
				for _, u := range s.Used {
					h.work[u.Name] = u.Seconds * h.Speed
				}
			}
		}
	case m.Shut != nil && m.Shut.Shut:
		x.drained++
	case m.Came != "":
		x.hosts[m.Came].come(now)
	case m.Gone+m.Remove != "":
		x.hosts[m.Gone+m.Remove].leave(now)
	}
	return nil
}

// joined records that a host has joined for the first time or again. A host that returns
// with another size counts as a new host. It takes over the tasks of the old host, as in
// the market.
func (x *exporter) joined(now float64, j *join, here bool) {
	h := x.hosts[j.Spec.Name]
	if h == nil || h.Spec != j.Spec {
		work := make(map[int64]float64)
		if h != nil {
			h.leave(now)
			work = h.work
		}
		h = &exportedHost{Spec: j.Spec, work: work}
		x.hosts[j.Spec.Name] = h
		x.order = append(x.order, h)
	}
	if here {
		h.come(now)
	}
}

// come records that h is present from the current time on.
func (h *exportedHost) come(now float64) {
	if n := len(h.there); h != nil && (n == 0 || h.there[n-1].End <= now) {
		h.there = append(h.there, availability.Record{Start: now, End: math.Inf(1), State: availability.Available})
	}
}

// leave records that h is absent from the current time on.
func (h *exportedHost) leave(now float64) {
	if h == nil || len(h.there) == 0 {
		return
	}
	last := &h.there[len(h.there)-1]
	if last.End = min(last.End, now); last.End <= last.Start {
		h.there = h.there[:len(h.there)-1]
	}
}

// submit adds a job.
func (x *exporter) submit(now float64, s *submission) error {
	signed, terms, err := s.open()
	if err != nil {
		return err
	}
	j := &exportedJob{account: signed.Value("account"), Job: workloadgen.Job{
		ID: x.next, Arrival: now, Runtime: terms.Work, Estimate: terms.Work, Deadline: terms.Deadline, Nodes: terms.Nodes, Worth: 1,
		Value: terms.Budget.Float64(), Class: terms.Class, CPUs: terms.CPUs, Hard: true, Needs: x.needs(s, terms),
	}, live: Outcome{Job: x.next, State: "open"}}
	x.next++
	x.jobs[j.ID], x.asked = j, append(x.asked, j)
	return nil
}

// needs returns the resources that each node of an order holds, or nil if the order holds
// none.
func (x *exporter) needs(s *submission, t *order.Terms) *workloadgen.Needs {
	holds := x.conf.sold(x.conf.amountsIn(s, t))
	n := &workloadgen.Needs{Memory: holds.Memory, Disk: holds.Disk, Bandwidth: holds.Bandwidth, Counts: make(map[string]int)}
	for name, units := range t.Counts {
		n.Counts[name] = int(units)
	}
	for name, units := range t.Licences {
		n.Counts[name] = int(units)
	}
	if n.Memory+n.Disk+n.Bandwidth == 0 && len(n.Counts) == 0 {
		return nil
	}
	return n
}

// held returns the resources of h that tasks can hold. It includes all resources that the
// market knows, because the market's rules can name any of them.
func (x *exporter) held(h *exportedHost) scenario.Held {
	held := scenario.Held{Memory: h.Room.Memory, Disk: h.Room.Disk, Bandwidth: h.Room.Bandwidth, Count: make(map[string]int)}
	for i, name := range x.conf.counts() {
		held.Count[name] = int(h.Room.Counts[i])
	}
	return held
}

// exports reports whether the plan contains j.
func (x *exporter) exports(j *exportedJob) bool {
	plan := workloadgen.Plan{j.Job}
	plan[0].Arrival, plan[0].Runtime = 0, j.Estimate
	switch reason := contracts.Reason(j.live.Reason); {
	case reason == contracts.Unfunded || reason == contracts.NotAllowed:
		x.unpaid++
	case j.early:
		x.early++
	case plan.Validate() != nil:
		x.foreign++
	default:
		return true
	}
	return false
}

// finish records how the contract of j ended and how much work its program needed.
func (x *exporter) finish(j *exportedJob, c *Contract) error {
	if len(c.Decision) > 0 {
		if err := json.Unmarshal(c.Decision, &struct {
			Decision *string
			Reason   *string
		}{&j.live.Decision, &j.live.Reason}); err != nil {
			return err
		}
	}
	if j.early = c.Early; c.Submitted > j.Arrival {
		j.Arrival = c.Submitted // the order was held before it was decided
	}
	if c.Memory > 0 { // rounded up to Slurm's unit of memory if a host has whole cores
		if j.Needs == nil {
			j.Needs = new(workloadgen.Needs)
		}
		j.Needs.Memory = float64(c.Memory)
	}
	j.live.State, j.live.Ended, j.live.Paid = c.State, c.Ended, c.Paid.Float64()
	needed := 0.0                      // maximum over the nodes whose program ended by itself
	earlier := make(map[int32]float64) // work of earlier attempts, by node
	for _, e := range c.Ends {
		switch h := x.hosts[e.Host]; {
		case h == nil:
		case e.Why == hosts.Exited:
			needed = max(needed, earlier[e.Node]+h.work[e.Name])
		case e.Code == remote.TryAgain:
			earlier[e.Node] += h.work[e.Name]
		case e.Why == hosts.Expired && c.Done >= j.Runtime*float64(c.Nodes):
			j.Runtime = math.Inf(1)
		}
	}
	if needed > 0 {
		j.Runtime = needed
	}
	return nil
}

// exported returns the scenario. Call exported after the whole log has been read.
func (x *exporter) exported(seed uint64) (*Exported, error) {
	conf := x.conf
	if len(x.asked) == 0 {
		return nil, errors.New("the market's log contains no request that can be exported")
	}
	x.order = slices.DeleteFunc(x.order, func(h *exportedHost) bool { return len(h.there) == 0 })
	fleet := scenario.Fleet{Hosts: len(x.order), Floor: conf.Floor}
	begin := math.Inf(1)
	for _, h := range x.order {
		if h.Cap != x.order[0].Cap {
			return nil, fmt.Errorf("hosts %s and %s limit a task to %v and %v processors, but a scenario can have only one limit", x.order[0].Name, h.Name, x.order[0].Cap, h.Cap)
		}
		fleet.CPUs, fleet.Cap, fleet.Speed = max(fleet.CPUs, h.CPUs), h.Cap, max(fleet.Speed, h.Speed)
		fleet.Sizes, fleet.Speeds = append(fleet.Sizes, h.CPUs), append(fleet.Speeds, h.Speed)
		fleet.Held = append(fleet.Held, x.held(h))
		fleet.Whole = append(fleet.Whole, h.Whole)
		begin = min(begin, h.there[0].Start)
	}
	if fleet.Hosts == 0 {
		return nil, errors.New("the market's log contains no host")
	}
	if !slices.Contains(fleet.Whole, true) {
		fleet.Whole = nil
	}
	if slices.Min(fleet.Speeds) == fleet.Speed {
		fleet.Speeds = nil
	}
	if slices.Min(fleet.Sizes) == fleet.CPUs {
		fleet.Sizes = nil
	} else {
		fleet.CPUs = scenario.Default().Fleet.CPUs // sizes replace this field
	}
	if !slices.ContainsFunc(x.order, func(h *exportedHost) bool { return h.Room != x.order[0].Room }) {
		one := fleet.Held[0]
		fleet.Memory, fleet.Disk, fleet.Bandwidth, fleet.Count, fleet.Held = one.Memory, one.Disk, one.Bandwidth, one.Count, nil
		if x.order[0].Room.Zero() && len(conf.Market.Resources)+len(conf.Floor.Held) == 0 {
			fleet.Count = nil
		}
	}
	begin = max(0, min(begin, x.asked[0].Arrival)-conf.Market.Window) // Forecasts start with a window without bids, as in the live market.
	out := new(Exported)
	end := x.end - begin
	for _, j := range x.asked {
		user := slices.Index(out.Accounts, j.account) + 1
		if user == 0 {
			out.Accounts = append(out.Accounts, j.account)
			user = len(out.Accounts)
		}
		if j.User = int64(user); math.IsInf(j.Runtime, 1) {
			x.endless++
			j.Runtime = min(workloadgen.MaxSeconds, 2*(j.Estimate+j.Deadline*j.CPUs*fleet.Speed))
		}
		if j.Arrival -= begin; j.live.Ended > 0 {
			j.live.Ended -= begin
		}
		end = max(end, j.Arrival+j.Deadline)
		out.Plan, out.Outcomes = append(out.Plan, j.Job), append(out.Outcomes, j.live)
	}
	if err := x.availability(out, &fleet, conf, begin, math.Ceil(end)+1); err != nil {
		return nil, err
	}
	e, err := scenario.Parse("export", []byte("name: x\nconfigurations: [{name: live, admission: [be], workload: {plan: x}}]\nreplications: 1"), scenario.Known{})
	if err != nil {
		return nil, err
	}
	e.Name = strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, conf.Name)
	e.Seed = seed
	e.Title = "number of requests in the plan " + conf.Name
	c := &e.Configurations[0]
	c.Fleet, c.Market, c.Admission = fleet, conf.Market, []scenario.Choice{conf.Admission}
	c.SLA.Enforcement = "per-host"
	out.Scenario = e
	for _, n := range []struct {
		number int
		what   string
	}{
		{x.already, "number of contracts that are not in the plan because they were open when the log began"},
		{x.unpaid, "number of requests that are not in the plan because their owners could not pay"},
		{x.early, "number of requests that are not in the plan because a quota or a dependency refused them"},
		{x.foreign, "number of requests that are not in the plan because a plan has no fields for them"},
		{x.endless, "number of programs that did more than the requested work and ran until their deadline; the market fulfilled their contracts, but a run violates them"},
		{x.rebids, "number of orders that changed a budget; the plan contains only the first budget of each contract"},
		{x.drained, "number of times that a host stopped accepting tasks; the hosts of a run accept tasks until they leave"},
	} {
		if n.number > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("%s: %d", n.what, n.number))
		}
	}
	if conf.Promises != (penalties{}) {
		out.Notes = append(out.Notes, "number of penalties that the market promised and that are not in the plan")
	}
	return out, nil
}

// availability sets the hosts' availability trace. It sets no trace if every host was present
// from before the first request until the end.
func (x *exporter) availability(out *Exported, fleet *scenario.Fleet, conf *Config, begin, end float64) error {
	if !slices.ContainsFunc(x.order, func(h *exportedHost) bool {
		return len(h.there) != 1 || h.there[0].Start-begin > out.Plan[0].Arrival || !math.IsInf(h.there[0].End, 1)
	}) {
		return nil
	}
	out.Hosts = new(availability.Trace)
	for _, h := range x.order {
		var records []availability.Record
		at := 0.0
		for _, r := range h.there {
			r.Start, r.End = r.Start-begin, min(r.End-begin, end)
			if r.Start > at {
				records = append(records, availability.Record{Start: at, End: r.Start, State: availability.Unavailable})
			}
			records, at = append(records, r), r.End
		}
		if at < end {
			records = append(records, availability.Record{Start: at, End: end, State: availability.Unavailable})
		}
		past, err := availability.NewHistory(h.Name, h.Speed, records, 0)
		if err != nil {
			return err
		}
		out.Hosts.Hosts = append(out.Hosts.Hosts, past)
	}
	a := scenario.DefaultAvailability()
	a.Gap, a.Format, a.Leaving, a.LostWork = 0, "csv", conf.Leaving.Rule, conf.Leaving.Lost
	fleet.Availability = &a
	return nil
}

// A File is one of the files of an exported market.
type File struct {
	Name string
	Text []byte
}

// Files returns the files to write for x: the scenario NAME.yaml, its plan NAME.csv and the
// outcomes of the live market in NAME-live.csv. If hosts joined or left, NAME-hosts.csv
// contains the times at which they did.
func (x *Exported) Files(name string) (files []File, err error) {
	var plan, text, rows bytes.Buffer
	for i, account := range x.Accounts {
		fmt.Fprintf(&plan, "# user %d is %s\n", i+1, account)
	}
	if err := workloadgen.WriteCSV(&plan, x.Plan); err != nil {
		return nil, err
	}
	files = append(files, File{name + ".csv", plan.Bytes()})
	e := x.Scenario
	c := &e.Configurations[0]
	c.Workload.Plan = name + ".csv"
	if x.Hosts != nil {
		var trace bytes.Buffer
		if err := traces.WriteCSV(&trace, x.Hosts); err != nil {
			return nil, err
		}
		c.Fleet.Availability.File = name + "-hosts.csv"
		files = append(files, File{name + "-hosts.csv", trace.Bytes()})
	}
	for _, n := range x.Notes {
		fmt.Fprintf(&text, "# %s\n", n)
	}
	if err := scenario.Write(&text, e); err != nil {
		return nil, err
	}
	out := csv.NewWriter(&rows)
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	out.Write([]string{"job", "decision", "reason", "state", "ended", "paid"})
	for _, o := range x.Outcomes {
		out.Write([]string{strconv.FormatInt(o.Job, 10), o.Decision, o.Reason, o.State, number(o.Ended), number(o.Paid)})
	}
	out.Flush()
	return append(files, File{name + "-live.csv", rows.Bytes()}, File{name + ".yaml", text.Bytes()}), out.Error()
}
