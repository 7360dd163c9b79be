package batch

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Terms are the terms that a script specifies. A field is zero if the script does not specify
// it.
type Terms struct {
	Name       string
	Nodes      int
	CPUs       int     // processors per node
	Deadline   float64 // seconds
	Work       float64 // processor-seconds per node
	Budget     string  // dollars
	Class      string
	Memory     int64            // bytes per node
	GPUs       int              // per node
	Licences   map[string]int32 // units by name
	Array      string           // indices, in the syntax that [Array] parses
	Project    string           // account that pays, without its prefix
	Chdir      string           // directory in which the program starts
	Stdin      string           // file of standard input
	Env        []string         // variables NAME=VALUE, in the order of the script
	Requeue    int              // further attempts
	After      map[string][]int // contracts by condition (ok, any or notok)
	Warn       float64          // seconds of notice before the deadline
	Ignored    []string         // directives without effect, as written in the script
	tasks      int
	perCPU     int64 // bytes of memory per processor
	totalGPUs  int
	nodesGiven bool
}

// A directive is an option of sbatch that is honoured.
type directive struct {
	long, short string
	optional    bool // the option may appear without a value
	set         func(t *Terms, value string) bool
}

// directives are the options that are honoured, sorted by name.
var directives = []directive{
	{long: "account", short: "A", set: text(func(t *Terms) *string { return &t.Project })},
	{long: "array", short: "a", set: text(func(t *Terms) *string { return &t.Array })},
	{long: "chdir", short: "D", set: text(func(t *Terms) *string { return &t.Chdir })},
	{long: "cpus-per-task", short: "c", set: above0(func(t *Terms) *int { return &t.CPUs })},
	{long: "dependency", short: "d", set: (*Terms).dependency},
	{long: "export", set: (*Terms).export},
	{long: "gpus", short: "G", set: func(t *Terms, v string) bool { return gpus(v, &t.totalGPUs) }},
	{long: "gpus-per-node", set: func(t *Terms, v string) bool { return gpus(v, &t.GPUs) }},
	{long: "gres", set: (*Terms).gres},
	{long: "input", short: "i", set: text(func(t *Terms) *string { return &t.Stdin })},
	{long: "job-name", short: "J", set: text(func(t *Terms) *string { return &t.Name })},
	{long: "licenses", short: "L", set: (*Terms).licences},
	{long: "mem", set: func(t *Terms, v string) bool { return bytes(v, &t.Memory) }},
	{long: "mem-per-cpu", set: func(t *Terms, v string) bool { return bytes(v, &t.perCPU) }},
	{long: "nodes", short: "N", set: func(t *Terms, v string) bool {
		t.nodesGiven = true
		return above0(func(t *Terms) *int { return &t.Nodes })(t, v)
	}},
	{long: "ntasks", short: "n", set: above0(func(t *Terms) *int { return &t.tasks })},
	{long: "requeue", optional: true, set: func(t *Terms, _ string) bool { t.Requeue = 1; return true }},
	{long: "signal", set: (*Terms).signal},
	{long: "time", short: "t", set: (*Terms).time},
}

// ignored are the options that have no effect on a market. A dash at the end marks options
// without a value.
var ignored = []string{"output", "o", "error", "e", "partition", "p", "qos", "q", "open-mode", "comment", "mail-type", "mail-user", "no-requeue-"}

// own are the options on lines that begin with #BOURSE.
var own = []directive{
	{long: "budget", set: text(func(t *Terms) *string { return &t.Budget })},
	{long: "class", set: text(func(t *Terms) *string { return &t.Class })},
	{long: "work", set: func(t *Terms, v string) (ok bool) {
		var err error
		t.Work, err = strconv.ParseFloat(v, 64)
		return err == nil && t.Work > 0 && !math.IsInf(t.Work, 1)
	}},
}

// Script parses the directives of a job script, which are the lines before the first command
// that begin with #SBATCH or #BOURSE. A script without a time limit causes an error, because a
// contract has a deadline. The work of a node is the deadline times the number of its
// processors, unless a line '#BOURSE --work' specifies it.
func Script(script string) (*Terms, error) {
	t := &Terms{Nodes: 1, CPUs: 1}
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			break // the first command
		}
		rest, known, table := "", false, directives
		if rest, known = strings.CutPrefix(line, "#SBATCH"); !known {
			table = own
			rest, known = strings.CutPrefix(line, "#BOURSE")
		}
		if !known || rest != "" && !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "\t") {
			continue
		}
		words, err := split(rest)
		for err == nil && len(words) > 0 {
			words, err = t.take(table, words)
		}
		if err != nil {
			return nil, err
		}
	}
	return t, t.conclude()
}

// conclude checks the terms together, and computes those that follow from other terms.
func (t *Terms) conclude() error {
	switch {
	case t.tasks > 0 && t.nodesGiven && t.tasks != t.Nodes:
		return fmt.Errorf("value of --ntasks: found %d with %d nodes, want one task per node", t.tasks, t.Nodes)
	case t.Deadline == 0:
		return fmt.Errorf("no time: found no '#SBATCH --time', want one, because every contract has a deadline")
	case t.Memory > 0 && t.perCPU > 0:
		return fmt.Errorf("value of --mem-per-cpu: found also --mem, want only one of these options")
	}
	t.Nodes = max(t.Nodes, t.tasks)
	if t.totalGPUs > 0 {
		if t.GPUs > 0 || t.totalGPUs%t.Nodes != 0 {
			return fmt.Errorf("value of --gpus: found %d for %d nodes, want a multiple of the number of nodes, and no other GPU option", t.totalGPUs, t.Nodes)
		}
		t.GPUs = t.totalGPUs / t.Nodes
	}
	if t.Memory += t.perCPU * int64(t.CPUs); t.Memory > 1<<53 {
		return fmt.Errorf("value of --mem-per-cpu: found %d bytes in total, want at most %d", t.Memory, int64(1)<<53)
	}
	if t.Work == 0 {
		t.Work = t.Deadline * float64(t.CPUs)
	}
	return nil
}

// take applies the first option in words, and returns the remaining words.
func (t *Terms) take(table []directive, words []string) ([]string, error) {
	name, value, given := words[0], "", false
	words = words[1:]
	long := strings.HasPrefix(name, "--")
	switch {
	case long:
		name, value, given = strings.Cut(name[2:], "=")
	case strings.HasPrefix(name, "-") && len(name) > 1:
		name, value, given = name[1:2], strings.TrimPrefix(name[2:], "="), len(name) > 2
	default:
		return nil, fmt.Errorf("unknown %s: found no option, want an option that begins with -", name)
	}
	said := "-" + name
	if long {
		said = "--" + name
	}
	i := slices.IndexFunc(table, func(d directive) bool { return d.long == name && long || d.short == name && !long })
	flag := slices.Contains(ignored, name+"-")
	if i < 0 && (&table[0] == &own[0] || !flag && !slices.Contains(ignored, name)) {
		return nil, fmt.Errorf("unknown %s: markets do not support this option; remove it from the script", said)
	}
	if takes := i >= 0 && !table[i].optional || i < 0 && !flag; takes && !given {
		if len(words) == 0 {
			return nil, fmt.Errorf("value of %s: found none, want one", said)
		}
		value, words = words[0], words[1:]
	}
	if i < 0 {
		t.Ignored = append(t.Ignored, said)
		return words, nil
	}
	if !table[i].set(t, value) {
		return nil, fmt.Errorf("value of --%s: found %q, want a value that markets support", table[i].long, value)
	}
	return words, nil
}

// split returns the words of a line. Words may be quoted, and a # begins a comment.
func split(line string) (words []string, err error) {
	for line = strings.TrimLeft(line, " \t"); line != "" && line[0] != '#'; line = strings.TrimLeft(line, " \t") {
		var word strings.Builder
		for line != "" && line[0] != ' ' && line[0] != '\t' {
			if q := line[0]; q == '"' || q == '\'' {
				quoted, rest, closed := strings.Cut(line[1:], string(q))
				if !closed {
					return nil, fmt.Errorf("quote: found an unclosed quotation mark in %q", line)
				}
				word.WriteString(quoted)
				line = rest
				continue
			}
			word.WriteByte(line[0])
			line = line[1:]
		}
		words = append(words, word.String())
	}
	return words, nil
}

func text(of func(*Terms) *string) func(*Terms, string) bool {
	return func(t *Terms, v string) bool {
		*of(t) = v
		return v != ""
	}
}

func above0(of func(*Terms) *int) func(*Terms, string) bool {
	return func(t *Terms, v string) bool {
		n, err := natural(v)
		*of(t) = n
		return err == nil && n > 0
	}
}

// time parses minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes
// or days-hours:minutes:seconds.
func (t *Terms) time(v string) bool {
	days, clock, dayed := strings.Cut(v, "-")
	if !dayed {
		days, clock = "0", v
	}
	parts := strings.Split(clock, ":")
	units := []int{60, 1}
	switch {
	case dayed:
		units = []int{3600, 60, 1}
	case len(parts) == 3:
		units = []int{3600, 60, 1}
	}
	d, err := natural(days)
	total := float64(d) * 86400
	if err != nil || len(parts) > len(units) {
		return false
	}
	for i, p := range parts {
		n, err := natural(p)
		if err != nil {
			return false
		}
		total += float64(n) * float64(units[i])
	}
	t.Deadline = total
	return total > 0
}

// bytes parses an amount of memory. Its unit is K, M, G or T, or MiB if none is given. Units are
// powers of 1024.
func bytes(v string, out *int64) bool {
	unit := int64(1 << 20)
	if v != "" {
		if at := strings.IndexByte("KMGT", v[len(v)-1]&^0x20); at >= 0 && v[len(v)-1] > '9' {
			unit, v = 1<<(10*(at+1)), v[:len(v)-1]
		}
	}
	n, err := natural(v)
	*out = int64(n) * unit
	return err == nil && n > 0 && int64(n) <= 1<<53/unit
}

// gpus parses N or TYPE:N. The type is ignored, because a market has one kind of GPU.
func gpus(v string, out *int) bool {
	if at := strings.LastIndexByte(v, ':'); at > 0 {
		v = v[at+1:]
	}
	n, err := natural(v)
	*out = n
	return err == nil && n > 0
}

// gres parses gpu, gpu:N, gpu:TYPE or gpu:TYPE:N.
func (t *Terms) gres(v string) bool {
	parts := strings.Split(v, ":")
	if parts[0] != "gpu" || len(parts) > 3 {
		return false
	}
	t.GPUs = 1
	last := parts[len(parts)-1]
	if n, err := natural(last); err == nil && len(parts) > 1 {
		t.GPUs = n
	} else if len(parts) == 3 {
		return false
	}
	return t.GPUs > 0
}

// licences parses NAME or NAME:N, separated by commas.
func (t *Terms) licences(v string) bool {
	t.Licences = make(map[string]int32)
	for item := range strings.SplitSeq(v, ",") {
		name, number, counted := strings.Cut(item, ":")
		n, err := 1, error(nil)
		if counted {
			n, err = natural(number)
		}
		if err != nil || n == 0 || name == "" || t.Licences[name] > 0 {
			return false
		}
		t.Licences[name] = int32(min(n, math.MaxInt32))
	}
	return true
}

// conditions are the dependencies that are honoured.
var conditions = map[string]string{"afterok": "ok", "afterany": "any", "afternotok": "notok"}

// dependency parses CONDITION:CONTRACT:..., separated by commas.
func (t *Terms) dependency(v string) bool {
	t.After = make(map[string][]int)
	for item := range strings.SplitSeq(v, ",") {
		parts := strings.Split(item, ":")
		on := conditions[parts[0]]
		if on == "" || len(parts) < 2 {
			return false
		}
		for _, p := range parts[1:] {
			n, err := natural(p)
			if err != nil {
				return false
			}
			t.After[on] = append(t.After[on], n)
		}
	}
	return true
}

// export parses NONE, ALL and NAME=VALUE, separated by commas. ALL is ignored, because
// programs never receive the environment of the client.
func (t *Terms) export(v string) bool {
	for item := range strings.SplitSeq(v, ",") {
		name, _, set := strings.Cut(item, "=")
		switch {
		case item == "NONE" || item == "NIL":
		case item == "ALL":
			t.Ignored = append(t.Ignored, "--export=ALL")
		case !set || name == "":
			return false
		default:
			t.Env = append(t.Env, item)
		}
	}
	return true
}

// signal parses TERM@SECONDS or B:TERM@SECONDS. A market always signals all processes.
func (t *Terms) signal(v string) bool {
	v = strings.TrimPrefix(v, "B:")
	name, seconds, _ := strings.Cut(v, "@")
	n, err := natural(seconds)
	t.Warn = float64(n)
	return err == nil && n > 0 && strings.TrimPrefix(name, "SIG") == "TERM"
}
