package swf

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

func looksSacct(text []byte) bool {
	line := firstLine(text)
	return strings.Contains(line, "|") && strings.Contains(line, "JobID") ||
		strings.HasPrefix(line, "{") && bytes.Contains(text, []byte(`"job_id"`))
}

// readSacct reads the accounting of Slurm, as sacct prints it with -P or --json. Jobs that have
// not ended, and steps of jobs, have no record.
func readSacct(c *conversion, in *bufio.Reader) error {
	c.unix = true
	for {
		first, err := in.Peek(1)
		if err == io.EOF {
			return errEmpty
		}
		if err != nil {
			return err
		}
		if !bytes.ContainsAny(first, " \t\r\n") {
			if first[0] == '{' {
				return c.sacctJSON(in)
			}
			return c.sacctTable(in)
		}
		if b, _ := in.ReadByte(); b == '\n' {
			c.line++
			c.trace.Accounting.Lines++
			c.trace.Accounting.Blank++
		}
	}
}

// A slurmJob is a job as sacct describes it, with times in seconds. An unknown value is
// [Unknown] or empty.
type slurmJob struct {
	id, user, group, name, qos, partition, state string

	submit, start, end, elapsed, limit float64
	cpu                                float64 // processor time used, of all processors
	memory                             float64 // requested kilobytes per processor
	cpus, asked                        float64
}

// slurmStates maps the first word of a Slurm state to the status of a job that has ended.
var slurmStates = map[string]int64{
	"COMPLETED": Completed, "CANCELLED": Cancelled, "FAILED": Failed, "TIMEOUT": Failed, "NODE_FAIL": Failed, "OUT_OF_MEMORY": Failed,
	"BOOT_FAIL": Failed, "DEADLINE": Failed, "PREEMPTED": Failed, "REVOKED": Failed, "LAUNCH_FAILED": Failed, "RECONFIG_FAIL": Failed,
}

// slurm adds a job.
func (c *conversion) slurm(j *slurmJob) {
	state, _, _ := strings.Cut(j.state, " ")
	status, ended := slurmStates[state]
	switch {
	case j.state == "" && j.end != Unknown:
		status = Unknown
	case !ended:
		c.skip(NotEnded, "State", j.state)
		return
	case j.submit == Unknown:
		c.skip(NoSubmit, "Submit", "")
		return
	}
	r := Record{
		Submit: j.submit, Wait: Unknown, Run: j.elapsed, Procs: Unknown, CPU: Unknown, Memory: Unknown, ReqProcs: Unknown,
		ReqTime: j.limit, ReqMemory: j.memory, Status: status, User: c.users.number(j.user), Group: c.groups.number(j.group),
		Application: c.applications.number(j.name), Queue: c.queues.number(j.qos), Partition: c.partitions.number(j.partition),
		Preceding: Unknown, Think: Unknown,
	}
	if j.cpus > 0 {
		r.Procs = int64(j.cpus)
	}
	if j.asked > 0 {
		r.ReqProcs = int64(j.asked)
	}
	if r.Run == Unknown && j.start != Unknown && j.end >= j.start {
		r.Run = j.end - j.start
	}
	began := j.start
	if began == Unknown {
		began = j.end
	}
	if began >= j.submit {
		r.Wait = began - j.submit
	}
	if j.cpu > 0 && r.Procs > 0 {
		r.CPU = j.cpu / float64(r.Procs)
	}
	c.add(j.id, r)
}

// sacctColumns are the columns of sacct that are used. Among columns with the same meaning, the
// first one in the file is used.
var sacctColumns = [][]string{
	{"JobIDRaw", "JobID"}, {"Submit"}, {"Start"}, {"End"}, {"ElapsedRaw", "Elapsed"}, {"TimelimitRaw", "Timelimit"}, {"State"},
	{"AllocCPUS", "NCPUS"}, {"ReqCPUS"}, {"User", "UID"}, {"Group", "GID", "Account"}, {"JobName"}, {"QOS"}, {"Partition"},
	{"TotalCPU"}, {"ReqMem"}, {"NNodes", "AllocNodes"},
}

// sacctTable reads a table with a header line and columns separated by |.
func (c *conversion) sacctTable(in *bufio.Reader) error {
	acc := &c.trace.Accounting
	var columns map[string]int
	width := 0
	for {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if line == "" && err == io.EOF {
			break
		}
		partial := err == io.EOF
		c.line++
		acc.Lines++
		line = strings.TrimRight(line, "\r\n")
		cells := strings.Split(line, "|")
		switch {
		case strings.TrimSpace(line) == "":
			acc.Blank++
		case columns == nil:
			acc.Comments++
			if columns, err = sacctHeader(cells); err != nil {
				return err
			}
			width = len(cells)
			c.sacctUnused(cells, columns)
		case len(cells) != width:
			c.skip(TooFewFields, fmt.Sprintf("%d columns of %d", len(cells), width), line)
		default:
			c.sacctRow(func(name string) string {
				if at, found := columns[name]; found {
					return strings.TrimSpace(cells[at])
				}
				return ""
			}, partial)
		}
	}
	if columns == nil {
		return errEmpty
	}
	if c.local > 0 {
		c.unused("the zone of %d times, which are read as UTC; SLURM_TIME_FORMAT=%%s prints Unix times", c.local)
	}
	return nil
}

// sacctHeader returns the positions of columns, or an error if one is missing.
func sacctHeader(cells []string) (map[string]int, error) {
	columns := make(map[string]int)
	for i, name := range cells {
		for _, same := range sacctColumns {
			for _, known := range same {
				if strings.EqualFold(strings.TrimSpace(name), known) {
					columns[known] = i
				}
			}
		}
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { _, found := columns[n]; return found })
	}
	var missing []string
	if !has("JobIDRaw", "JobID") {
		missing = append(missing, "JobIDRaw")
	}
	if !has("Submit") {
		missing = append(missing, "Submit")
	}
	if !has("ElapsedRaw", "Elapsed") && !(has("Start") && has("End")) {
		missing = append(missing, "ElapsedRaw")
	}
	if !has("AllocCPUS", "NCPUS", "ReqCPUS") {
		missing = append(missing, "AllocCPUS")
	}
	if missing != nil {
		return nil, fmt.Errorf("the header has no column %s; 'sacct -a -P -o JobIDRaw,User,Account,Partition,QOS,Submit,Start,End,ElapsedRaw,TimelimitRaw,AllocCPUS,ReqCPUS,State' prints all that is needed", strings.Join(missing, ", "))
	}
	return columns, nil
}

// sacctUnused states the columns that are not read.
func (c *conversion) sacctUnused(cells []string, columns map[string]int) {
	read := make(map[int]bool)
	for _, same := range sacctColumns {
		for _, known := range same {
			if at, found := columns[known]; found {
				read[at] = true
				break
			}
		}
	}
	var unused []string
	for i, name := range cells {
		if !read[i] && strings.TrimSpace(name) != "" {
			unused = append(unused, name)
		}
	}
	if unused != nil {
		c.unused("columns %s", strings.Join(unused, ", "))
	}
}

// sacctRow reads a row.
func (c *conversion) sacctRow(cell func(string) string, partial bool) {
	id := cell("JobIDRaw")
	if id == "" {
		id = cell("JobID")
	}
	if strings.Contains(id, ".") {
		c.skip(JobStep, "", id)
		return
	}
	if strings.Contains(id, "[") {
		c.skip(NotEnded, "JobID", id)
		return
	}
	first := func(names ...string) (string, string) {
		for _, n := range names {
			if text := cell(n); text != "" {
				return n, text
			}
		}
		return names[0], ""
	}
	j := slurmJob{id: id, state: cell("State"), name: cell("JobName"), qos: cell("QOS"), partition: cell("Partition"), cpu: Unknown, memory: Unknown}
	_, j.user = first("User", "UID")
	_, j.group = first("Group", "GID", "Account")
	for _, f := range []struct {
		name string
		to   *float64
	}{{"Submit", &j.submit}, {"Start", &j.start}, {"End", &j.end}} {
		at, known, local, ok := epoch(cell(f.name))
		if local {
			c.local++
		}
		if !ok {
			c.skip(NotTime, f.name, cell(f.name))
			return
		}
		if *f.to = Unknown; known {
			*f.to = at
		}
	}
	for _, f := range []struct {
		to    *float64
		scale float64
		raw   string // a plain number
		text  string // hours and minutes
	}{{&j.elapsed, 1, "ElapsedRaw", "Elapsed"}, {&j.limit, 60, "TimelimitRaw", "Timelimit"}, {&j.cpu, 1, "", "TotalCPU"}} {
		*f.to = Unknown
		name, text := first(f.raw, f.text)
		switch {
		case text == "" || text == "UNLIMITED" || text == "Partition_Limit" || text == "INVALID":
			continue
		case name == f.raw:
			x, ok := number([]byte(text))
			if !ok || x < 0 {
				c.skip(NotNumber, name, text)
				return
			}
			*f.to = x * f.scale
		default:
			x, ok := duration(text)
			if !ok {
				c.skip(NotTime, name, text)
				return
			}
			*f.to = x
		}
	}
	nodes := 1.0
	for _, f := range []struct {
		to    *float64
		names []string
	}{{&j.cpus, []string{"AllocCPUS", "NCPUS"}}, {&j.asked, []string{"ReqCPUS"}}, {&nodes, []string{"NNodes", "AllocNodes"}}} {
		name, text := first(f.names...)
		if text == "" {
			continue
		}
		x, ok := number([]byte(text))
		if !ok || x < 0 || x != math.Trunc(x) {
			c.skip(NotNumber, name, text)
			return
		}
		*f.to = x
	}
	if text := cell("ReqMem"); text != "" {
		kilobytes, ok := slurmMemory(text, max(j.cpus, j.asked, 1), max(nodes, 1))
		if !ok {
			c.skip(NotNumber, "ReqMem", text)
			return
		}
		if kilobytes > 0 {
			j.memory = kilobytes
		}
	}
	if partial {
		c.repair(NoNewline, "", "")
	}
	c.slurm(&j)
}

// slurmMemory returns the kilobytes per processor of a memory request. A request is for the whole
// job (4000M), for each processor (4Gc) or for each node (16Gn).
func slurmMemory(text string, cpus, nodes float64) (float64, bool) {
	share := 1 / cpus
	switch text[len(text)-1] {
	case 'c':
		text, share = text[:len(text)-1], 1
	case 'n':
		text, share = text[:len(text)-1], nodes/cpus
	}
	if text == "" {
		return 0, false
	}
	scale := 1024.0 // megabytes
	if i := strings.IndexByte("KMGTP", text[len(text)-1]); i >= 0 {
		text, scale = text[:len(text)-1], math.Pow(1024, float64(i))
	}
	x, ok := number([]byte(text))
	return x * scale * share, ok && x >= 0
}

// A slurmNumber is a number in sacct's JSON: a number, or an object that states whether it is set.
type slurmNumber float64

// UnmarshalJSON implements [json.Unmarshaler].
func (n *slurmNumber) UnmarshalJSON(text []byte) error {
	*n = Unknown
	if string(text) == "null" {
		return nil
	}
	if text[0] == '{' {
		var of struct {
			Set, Infinite bool
			Number        float64
		}
		if err := json.Unmarshal(text, &of); err != nil {
			return err
		}
		if of.Set && !of.Infinite {
			*n = slurmNumber(of.Number)
		}
		return nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("found %.40s, want a number", text)
	}
	*n = slurmNumber(x)
	return nil
}

// slurmState is the state in sacct's JSON: a word, or a list of them.
type slurmState string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *slurmState) UnmarshalJSON(text []byte) error {
	var all []string
	if json.Unmarshal(text, &all) == nil {
		if len(all) > 0 {
			*s = slurmState(all[0])
		}
		return nil
	}
	return json.Unmarshal(text, (*string)(s))
}

// slurmJSON is a job in sacct's JSON.
type slurmJSON struct {
	ID        json.Number `json:"job_id"`
	Name      string
	User      string
	Group     string
	Account   string
	Partition string
	QOS       string
	State     struct{ Current slurmState }
	Time      struct {
		Submission, Start, End, Elapsed, Limit slurmNumber
		Total                                  struct{ Seconds, Microseconds slurmNumber }
	}
	Required struct {
		CPUs   slurmNumber
		Memory slurmNumber // megabytes; the two below replace it in later versions
		PerCPU slurmNumber `json:"memory_per_cpu"`
		Node   slurmNumber `json:"memory_per_node"`
	}
	Nodes slurmNumber `json:"allocation_nodes"`
	TRES  struct {
		Allocated []struct {
			Type  string
			Count slurmNumber
		}
	}
	Steps []json.RawMessage
}

// sacctJSON reads an object with a list of jobs.
func (c *conversion) sacctJSON(in io.Reader) error {
	found, steps := false, 0
	err := c.readJSON(in, func(d *jsonReader, name string) (bool, error) {
		if name != "jobs" {
			return false, nil
		}
		found = true
		return true, d.jobs(func() error {
			j := slurmJSON{}
			for _, n := range []*slurmNumber{
				&j.Time.Submission, &j.Time.Start, &j.Time.End, &j.Time.Elapsed, &j.Time.Limit, &j.Time.Total.Seconds, &j.Time.Total.Microseconds,
				&j.Required.CPUs, &j.Required.Memory, &j.Required.PerCPU, &j.Required.Node, &j.Nodes,
			} {
				*n = Unknown
			}
			c.trace.Accounting.Lines++
			if err := d.Decode(&j); err != nil {
				return fmt.Errorf("job %d of the list: %w", c.trace.Accounting.Lines, err)
			}
			c.line = d.line()
			steps += len(j.Steps)
			c.slurmRecord(&j)
			return nil
		})
	})
	if err == nil && !found {
		err = errors.New("found no list of jobs")
	}
	if steps > 0 {
		c.unused("%d steps of jobs", steps)
	}
	return err
}

// slurmRecord adds a job in sacct's JSON.
func (c *conversion) slurmRecord(j *slurmJSON) {
	known := func(n slurmNumber) float64 { // 0 means an unknown time
		if n > 0 {
			return float64(n)
		}
		return Unknown
	}
	s := slurmJob{
		id: j.ID.String(), user: j.User, group: j.Group, name: j.Name, qos: j.QOS, partition: j.Partition, state: string(j.State.Current),
		submit: known(j.Time.Submission), start: known(j.Time.Start), end: known(j.Time.End), elapsed: float64(j.Time.Elapsed),
		limit: Unknown, cpu: Unknown, memory: Unknown, asked: known(j.Required.CPUs), cpus: Unknown,
	}
	if s.group == "" {
		s.group = j.Account
	}
	if j.Time.Limit > 0 {
		s.limit = 60 * float64(j.Time.Limit)
	}
	if j.Time.Total.Seconds >= 0 {
		s.cpu = float64(j.Time.Total.Seconds) + max(0, float64(j.Time.Total.Microseconds))/1e6
	}
	for _, t := range j.TRES.Allocated {
		if t.Type == "cpu" && t.Count > 0 {
			s.cpus = float64(t.Count)
		}
	}
	switch per := max(s.cpus, s.asked, 1); {
	case j.Required.PerCPU > 0:
		s.memory = 1024 * float64(j.Required.PerCPU)
	case j.Required.Node > 0:
		s.memory = 1024 * float64(j.Required.Node) * max(1, float64(j.Nodes)) / per
	case j.Required.Memory > 0:
		s.memory = 1024 * float64(j.Required.Memory) / per
	}
	c.slurm(&s)
}
