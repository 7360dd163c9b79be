package catalog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bourse/contracts/policies"
	"bourse/experiments"
	"bourse/experiments/scenario"
	"bourse/workloadgen/plugin"
)

// A Question is one of the questions that a user answers to create a scenario.
type Question struct {
	Name    string // name of the answer
	Ask     string
	Default string
	write   func(d *draft, answer string) error
}

// A draft is a scenario for which some of the questions have been answered.
type draft struct {
	name, workload, fleet, policies, deadlines, repeat string

	size     int  // number of hosts
	recorded bool // whether the jobs come from a log
	slack    bool // whether some policy uses a sharing rule other than auction
	queue    bool // whether some policy is a queue, which does not promise deadlines
	needs    bool // whether some policy cannot decide without deadlines
}

// Questions returns the questions for a new scenario in the order in which they are asked.
func Questions() []Question {
	return []Question{
		{"name", "What is the scenario called? Use letters, digits and dashes", "mine", (*draft).setName},
		{"hosts", "How many hosts, and how many processors each? HOSTSxPROCESSORS", "15x2", (*draft).setHosts},
		{"jobs", "Which workload: a log (.swf, .swf.gz), a plan (.csv), or a model: " + strings.Join(drawn(), ", "), "paper", (*draft).setJobs},
		{"policies", "Which policies are compared? Of " + strings.Join(policies.Table(nil, nil).Names(), ", "), "be, sac, cac", (*draft).setPolicies},
		{"repeat", "How many replications? A number, or METRIC=HALF-WIDTH to stop when the interval of METRIC is narrow enough", "5", (*draft).setRepeat},
		{"deadlines", "What are the deadlines? none; a factor on the user's estimate (or on the model's runtime); or usual (as the policies require)", "usual", (*draft).setDeadlines},
	}
}

// Check returns an error if the answer is invalid.
func (q Question) Check(answer string) error { return q.write(&draft{}, answer) }

// DraftScenario returns a commented scenario file that is built from one answer to each
// question. The scenario is valid, but the files named in it may not exist.
func DraftScenario(answers []string) (string, error) {
	var d draft
	for i, q := range Questions() {
		if err := q.write(&d, answers[i]); err != nil {
			return "", err
		}
	}
	if d.deadlines == "none" && d.needs {
		return "", fmt.Errorf("deadlines: found none with the policies %s, want a number, because some of these policies use deadlines", d.policies)
	}
	of := ""
	if d.recorded {
		of = "of: estimate, "
	}
	slack := ""
	switch {
	case d.deadlines == "none", d.deadlines == "usual" && d.queue && !d.needs:
		slack = "  sla: {deadline: none} # queues have no deadlines, so they reject no job as too late\n"
	case d.deadlines != "usual":
		slack = fmt.Sprintf("  sla: {%sslack: %s} # each deadline is this factor times the estimated runtime\n", of, d.deadlines)
	case d.slack:
		slack = fmt.Sprintf("  sla: {%sslack: 2} # deadlines are twice the runtime, because these policies delay jobs and need slack\n", of)
	case d.recorded:
		slack = "  sla: {of: estimate} # deadlines depend on the user's estimate\n"
	}
	text := fmt.Sprintf(`# Check it with bourse scenario check FILE, and run it with bourse run FILE.
name: %s
%s
base: # common to all configurations
  fleet: %s
  workload:
%s%s  admission: [%s]
configurations: # each is run under each policy, on the same jobs
  - {name: %[1]s}
`, d.name, d.repeat, d.fleet, d.workload, slack, d.policies)
	_, err := scenario.Parse("the new scenario", []byte(text), experiments.Known())
	return text, err
}

func (d *draft) setName(answer string) error {
	d.name = answer
	_, err := scenario.Parse("the new scenario", []byte("preset: paper\nname: "+strconv.Quote(answer)+"\n"), experiments.Known())
	if err != nil || answer == "" {
		return fmt.Errorf("found %q, want a name of letters, digits and dashes", answer)
	}
	return nil
}

func (d *draft) setHosts(answer string) error {
	hosts, cpus, two := strings.Cut(answer, "x")
	if !two {
		cpus = "1"
	}
	n, err := strconv.Atoi(strings.TrimSpace(hosts))
	m, bad := strconv.Atoi(strings.TrimSpace(cpus))
	if err != nil || bad != nil || n < 1 || m < 1 {
		return fmt.Errorf("found %q, want two numbers, such as 15x2", answer)
	}
	d.size = n
	d.fleet = fmt.Sprintf("{hosts: %d, cpus: %d}", n, m)
	return nil
}

// drawn returns the models that do not need a file.
func drawn() []string { return []string{"paper", "lublin", "exponential"} }

func (d *draft) setJobs(answer string) error {
	const worth = "    # Nobody knows what the jobs were worth: $0.0001 for a processor-second and unit of a Pareto worth.\n" +
		"    annotate: {value: pareto, price: 0.0001}\n"
	file := strings.TrimSuffix(strings.ToLower(answer), ".gz")
	switch ext := filepath.Ext(file); {
	case ext == ".swf":
		d.recorded = true
		d.workload = "    swf: " + strconv.Quote(answer) + "\n    filter: ran,first:2000 # bourse workload filters lists all filters\n" + worth
	case ext == ".csv":
		d.workload = "    plan: " + strconv.Quote(answer) + "\n"
	case answer == "paper":
		d.workload = "    model: {name: paper, jobs: 50} # arrivals, runtimes and values of the market paper\n"
	case answer == "lublin":
		d.workload = fmt.Sprintf("    model: {name: lublin, jobs: 200, size: %d}\n", max(d.size, 2)) + worth
	case answer == "exponential":
		d.workload = "    model: {name: exponential, jobs: 200}\n" + worth
	default:
		return fmt.Errorf("found %q, %s, or a file whose name ends in .swf, .swf.gz or .csv", answer, plugin.OneOf(answer, drawn()))
	}
	return nil
}

func (d *draft) setDeadlines(answer string) error {
	d.deadlines = answer
	x, err := strconv.ParseFloat(answer, 64)
	if answer != "none" && answer != "usual" && (err != nil || !(x > 0 && x <= 1e6)) {
		return fmt.Errorf("found %q, want none, usual, or a number above 0 and at most 1e6", answer)
	}
	return nil
}

func (d *draft) setPolicies(answer string) error {
	known := policies.Table(nil, nil).Names()
	var written []string
	for name := range strings.SplitSeq(answer, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(known, name) {
			return fmt.Errorf("%s", scenario.Unknown(name, known))
		}
		d.queue, d.needs = d.queue || policies.Of(name).Queues, d.needs || policies.NeedsDeadlines(policies.Of(name).Properties, "")
		if sharing := policies.Of(name).Sharing; sharing != "auction" {
			d.slack = true
			name = fmt.Sprintf("{name: %s, sharing: %s}", name, sharing)
		}
		if slices.Contains(written, name) {
			return fmt.Errorf("found %s twice", name)
		}
		written = append(written, name)
	}
	d.policies = strings.Join(written, ", ")
	return nil
}

func (d *draft) setRepeat(answer string) error {
	if n, err := strconv.Atoi(answer); err == nil && n > 0 {
		d.repeat = fmt.Sprintf("replications: %d", n)
		return nil
	}
	metric, width, two := strings.Cut(answer, "=")
	half, err := strconv.ParseFloat(width, 64)
	if !two || err != nil || !(half > 0) {
		return fmt.Errorf("found %q, want a number of replications, or METRIC=HALF-WIDTH, such as violations=0.05", answer)
	}
	if known := experiments.NamesOf("metric"); !slices.Contains(known, metric) {
		return fmt.Errorf("found metric %q, %s", metric, plugin.OneOf(metric, known))
	}
	d.repeat = fmt.Sprintf("replications: {max: 1000, until: {metric: %s, half_width: %v}}", metric, half)
	return nil
}
