package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bourse/bank/whole"
	"bourse/contracts"
	"bourse/contracts/order"
	"bourse/experiments/live"
	"bourse/experiments/live/batch"
	"bourse/experiments/live/client"
	"bourse/workloadgen/config"

	"github.com/oklog/ulid/v2"
	"github.com/urfave/cli/v2"
)

// contractsShown is the JSON form of contracts.
type contractsShown struct {
	Answers   []live.Answer   `json:"answers" doc:"decisions of the market"`
	Contracts []live.Contract `json:"contracts" doc:"states or outcomes of the contracts"`
}

// A termsOptions contains the flags for the terms of a contract, except the budget.
type termsOptions struct {
	Work      float64  `unit:"seconds" doc:"state the work per node as {SECONDS} of one processor; units such as 2h are accepted"`
	Deadline  float64  `unit:"seconds" doc:"set the deadline to {SECONDS}; units such as 2h are accepted"`
	Class     string   `doc:"request the promise of class {NAME}, such as be, sac or cac (default: the market's)"`
	Nodes     int      `default:"1" doc:"run on {N} hosts"`
	CPUs      float64  `default:"1" doc:"use at most {N} processors per node"`
	GPUs      int      `doc:"hold {N} GPUs per node"`
	Count     []string `doc:"hold units of a countable resource per node, as {NAME=N}; may be repeated"`
	Licence   []string `alias:"L" doc:"hold units of a licence of the market, as {NAME=N}; may be repeated"`
	Memory    float64  `unit:"bytes" doc:"hold {BYTES} of memory per node; units such as 4GB are accepted (default: the market's)"`
	Disk      float64  `unit:"bytes" doc:"hold {BYTES} of disk per node; units such as 4GB are accepted (default: the market's)"`
	Bandwidth float64  `unit:"bytes" doc:"hold {BYTES} per second of bandwidth per node; hosts reserve it, but do not enforce it"`
}

type budgetOptions struct {
	termsOptions `yaml:",inline"`
	Budget       string `doc:"offer a budget of {DOLLARS}"`
}

type homeOption struct {
	Home string `doc:"use the key and the market in {DIR} (default: $BOURSE_HOME, or the folder bourse in the user's configuration directory)"`
}

var submitCommand = command(`submit [--] [COMMAND]...
submit a program to a market

The command signs an order with the account's key, sends it, and prints the decision. If the order
was accepted, it prints the hosts and the bids. If the order was rejected, it prints the reason with
its numbers, and the lowest budget that would be accepted. The budget is held in escrow until the
contract is settled. The signed order is stored until the market answers. After a crash, 'bourse job
submit --resume' sends the order again; the market still creates only one contract.

   bourse job submit --work 60 --deadline 120 --budget 0.50 --wait -- ./render frame7
   bourse job submit --work 30m --deadline 2h --memory 4GB --budget 3 -- ./render film
   bourse job submit --work 60 --deadline 300 --budget 2 --array 0-9 --file render -- \
       sh -c './render frame$BOURSE_ARRAY_INDEX'
   bourse job submit --work 60 --deadline 120 --budget 0.50 --after 17,18 -- ./mix
   bourse job submit --from jobs.yaml
   bourse job submit --sbatch train.sh --budget 2.50
   bourse job submit --resume

With --sbatch, FILE is a job script for Slurm. Its directives state the terms, and flags
take precedence. The time limit is the deadline; the budget is in a line
'#BOURSE --budget 2.50' or a flag. Directives without effect are named, and those that a
market does not honour are refused by name (see 'bourse docs jobs').

With --from, FILE is a list of contracts, with the fields and units of the flags:

   - {class: cac, work: 60, deadline: 120, budget: 0.50, command: [./render, frame7]}
   - {work: 30m, deadline: 2h, memory: 4GB, budget: 3, nodes: 2, cpus: 2, env: {SEED: 7}, command: [./mix], files: [mix]}

All contracts are checked before the first one is sent. If there is a mistake, the command reports
the file, the line and the field.

The market holds an order that must wait for other contracts, for its array or for a quota. It
decides such an order later, and counts the deadline from the decision. If an order expires while it
is held, the market refuses it. The exit status is 1 if a contract
is refused or, with --wait, if a contract is not fulfilled.`, submitAction)

type submitOptions struct {
	budgetOptions              `yaml:",inline"`
	Env                        []string `doc:"set {NAME=VALUE} in its environment; may be repeated"`
	File                       []string `doc:"copy {FILE}, or a folder, to the task's folder; may be repeated"`
	Name                       string   `doc:"show the job under {NAME} in lists of contracts"`
	Stdin                      string   `doc:"pass {FILE} to the program as standard input; - passes the command's own standard input (default: none)"`
	Warn                       float64  `unit:"seconds" doc:"notify the program {SECONDS} before the deadline (default: one twentieth of the deadline, at most 30 s)"`
	Checkpoint                 float64  `unit:"seconds" doc:"store checkpoint/done at the market every {SECONDS}; units such as 10m are accepted"`
	Requeue                    int      `doc:"start the program again if it ends with exit status 75, at most {N} times"`
	Project                    string   `doc:"charge the account project:{PROJECT}; requires the right spend for this account"`
	Array                      string   `doc:"submit one contract for each index in {INDICES}, such as 0-9 or 0-9:2,20%3"`
	After                      []string `doc:"begin once {CONTRACTS}, such as 17,18, are fulfilled"`
	AfterEnded                 []string `yaml:"after-ended" doc:"begin once {CONTRACTS} have ended"`
	AfterFailed                []string `yaml:"after-failed" doc:"begin once {CONTRACTS} have ended unfulfilled"`
	From                       string   `doc:"submit each contract listed in {FILE}, in YAML or JSON; - means standard input"`
	Sbatch                     string   `doc:"submit the sbatch job script {FILE}; COMMAND contains its arguments"`
	Valid                      float64  `unit:"seconds" doc:"let the order expire after {SECONDS}; units such as 30d are accepted (default: 1h, or 30d for orders that wait for contracts or an array)"`
	Resume                     bool     `doc:"send unanswered signed orders again"`
	Wait                       bool     `doc:"wait until the contracts have ended"`
	homeOption                 `yaml:",inline"`
	jsonOption[contractsShown] `yaml:",inline"`
	quietOption                `yaml:",inline"`
}

func submitAction(c *cli.Context, o *submitOptions) error {
	if o.Resume {
		return resumeAction(c)
	}
	if o.From != "-" && o.Stdin != "-" {
		switch now, later := hasInput(c.App.Reader); {
		case now:
			return usagef("submit: found a pipe or a file as standard input, which programs do not get: send it by --stdin -, or end the command with </dev/null")
		case later:
			note(c, "submit: standard input is a pipe without data, so the program does not receive it")
		}
	}
	tasks, err := tasks(c, o)
	if err != nil {
		return err
	}
	return withMarket(c, func(m *client.Client) error {
		var shown contractsShown
		for _, t := range tasks {
			a, err := m.Submit(c.Context, t)
			if err != nil {
				return errors.Join(leftBehind(err), shown.print(c))
			}
			sayLine(c, client.Decided(a))
			shown.Answers = append(shown.Answers, *a)
		}
		return shown.finish(c, m)
	})
}

// resumeAction sends unanswered orders.
func resumeAction(c *cli.Context) error {
	return withMarket(c, func(m *client.Client) error {
		var shown contractsShown
		var failed error
		err := m.Resume(c.Context, func(id string, a *live.Answer, err error) {
			if err != nil {
				failed = errors.Join(failed, leftBehind(fmt.Errorf("order %s: %w", id, err)))
				return
			}
			sayLine(c, client.Decided(a))
			shown.Answers = append(shown.Answers, *a)
		})
		if err := errors.Join(failed, err); err != nil {
			return errors.Join(err, shown.print(c))
		}
		return shown.finish(c, m)
	})
}

// leftBehind adds the unanswered orders to the error of an interrupted client.
func leftBehind(err error) error {
	var order *client.Unanswered
	if errors.As(err, &order) {
		return unfinished{err, order.Left()}
	}
	return err
}

// sayLine prints a line for people.
func sayLine(c *cli.Context, line string) {
	if !c.Bool("json") {
		fmt.Fprintln(c.App.Writer, line)
	}
}

// print prints s as JSON if the flags request JSON.
func (s *contractsShown) print(c *cli.Context) error {
	if !c.Bool("json") {
		return nil
	}
	s.Answers, s.Contracts = append([]live.Answer{}, s.Answers...), append([]live.Contract{}, s.Contracts...)
	return printJSON(c, *s)
}

// finish waits for the admitted contracts to end if the flags request it.
func (s *contractsShown) finish(c *cli.Context, m *client.Client) error {
	if !c.Bool("wait") {
		refused := 0
		for i := range s.Answers {
			if s.Answers[i].Verdict == contracts.Reject.String() {
				refused++
			}
		}
		err := s.print(c)
		if err == nil && refused > 0 {
			err = fmt.Errorf("%d of %s refused", refused, count(len(s.Answers), "contract"))
		}
		return err
	}
	var ids []int64
	for i := range s.Answers {
		ids = append(ids, s.Answers[i].Contract)
	}
	return s.await(c, m, ids)
}

// await waits until the contracts have ended. It returns an error unless all were
// fulfilled.
func (s *contractsShown) await(c *cli.Context, m *client.Client, ids []int64) error {
	kept := 0
	for _, id := range ids {
		k, err := m.Wait(c.Context, id)
		if err != nil {
			return errors.Join(err, s.print(c))
		}
		if s.Contracts = append(s.Contracts, *k); k.State == "fulfilled" {
			kept++
		}
		if k.State != "refused" { // a rejection has already been reported
			sayLine(c, client.Stands(k))
		}
	}
	if err := s.print(c); err != nil {
		return err
	}
	if kept < len(ids) {
		return fmt.Errorf("%d of %s fulfilled", kept, count(len(ids), "contract"))
	}
	return nil
}

// withMarket calls f with a client of the user's market.
func withMarket(c *cli.Context, f func(*client.Client) error) error {
	home, err := userHome(c)
	if err != nil {
		return err
	}
	m, err := client.Open(home)
	if err != nil {
		return err
	}
	defer m.Close()
	return f(m)
}

// userHome returns the folder that contains the user's key.
func userHome(c *cli.Context) (client.Home, error) {
	if dir := c.String("home"); dir != "" {
		return client.Home(dir), nil
	}
	return client.DefaultHome()
}

// asked returns a requested contract with these terms.
func (o *termsOptions) asked() (asked, error) {
	a := asked{Class: o.Class, Work: o.Work, Deadline: o.Deadline, Nodes: o.Nodes, CPUs: o.CPUs, Memory: o.Memory, Disk: o.Disk, Bandwidth: o.Bandwidth}
	return a, o.units(&a)
}

// units sets the units of countable resources and licences in a that the flags specify.
func (o *termsOptions) units(a *asked) error {
	a.GPUs = cmp.Or(o.GPUs, a.GPUs)
	for _, f := range []struct {
		flag, such string
		text       []string
		to         *map[string]int32
	}{{"count", "gpu", o.Count, &a.Count}, {"licence", "matlab", o.Licence, &a.Licences}} {
		for _, s := range f.text {
			name, units, _ := strings.Cut(s, "=")
			n, err := strconv.ParseInt(units, 10, 32)
			if err != nil || n < 1 || !order.IsCountable(name) {
				return usagef("--%s: found %q, want NAME=N, with a name such as %s", f.flag, s, f.such)
			}
			if *f.to == nil {
				*f.to = make(map[string]int32)
			}
			(*f.to)[name] = int32(n)
		}
	}
	return nil
}

// tasks returns the contracts requested by the flags.
func tasks(c *cli.Context, o *submitOptions) (all []*client.Task, err error) {
	if name := o.From; name != "" {
		if c.NArg() > 0 || c.IsSet("array") || c.IsSet("sbatch") {
			return nil, usagef("submit: found a command, --array or --sbatch with --from, want only one of them")
		}
		return tasksFrom(c, name)
	}
	one, err := o.asked()
	if err != nil {
		return nil, err
	}
	one.Command, one.Env, one.Budget = c.Args().Slice(), map[string]string{}, o.Budget
	if o.Sbatch != "" {
		if one, err = fromScript(c, o.Sbatch); err != nil {
			return nil, err
		}
		o.over(c, &one)
		if err := o.units(&one); err != nil {
			return nil, err
		}
		if one.Budget == "" {
			return nil, usagef("--sbatch: %s: found no budget, want a line '#BOURSE --budget 2.50', or --budget", o.Sbatch)
		}
	}
	one.Memory, one.Disk, one.Bandwidth = cmp.Or(o.Memory, one.Memory), cmp.Or(o.Disk, one.Disk), cmp.Or(o.Bandwidth, one.Bandwidth)
	one.Files, one.Name, one.Stdin = append(one.Files, o.File...), cmp.Or(o.Name, one.Name), cmp.Or(o.Stdin, one.Stdin)
	one.Checkpoint = cmp.Or(o.Checkpoint, one.Checkpoint)
	one.Warn, one.Requeue, one.Project = cmp.Or(o.Warn, one.Warn), cmp.Or(o.Requeue, one.Requeue), cmp.Or(o.Project, one.Project)
	for _, d := range []struct {
		flag string
		text []string
		to   *[]int64
	}{{"after", o.After, &one.After}, {"after-ended", o.AfterEnded, &one.AfterEnded}, {"after-failed", o.AfterFailed, &one.AfterFailed}} {
		for _, list := range d.text {
			for s := range strings.SplitSeq(list, ",") {
				n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
				if err != nil || n < 0 {
					return nil, usagef("--%s: found %q, want contracts, such as 17,18", d.flag, s)
				}
				*d.to = append(*d.to, n)
			}
		}
	}
	for _, s := range o.Env {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, usagef("--env: found %q, want NAME=VALUE", s)
		}
		one.Env[name] = value
	}
	if c.IsSet("valid") && !(o.Valid > 0 && o.Valid <= mostValid) {
		return nil, usagef("--valid: found %.0f, want seconds, at most 30d", o.Valid)
	}
	indices := []int{0}
	array := cmp.Or(o.Array, one.Array)
	if array != "" {
		var throttle int
		if indices, throttle, err = batch.Array(array); err != nil {
			return nil, usagef("--array: %w", err)
		}
		one.array = order.Array{ID: ulid.Make().String(), Most: throttle}
	}
	if one.in, err = one.input(c); err != nil {
		return nil, err
	}
	for _, i := range indices {
		if array != "" {
			one.Env["BOURSE_ARRAY_INDEX"], one.array.Index = strconv.Itoa(i), i
		}
		t, wrong := one.task()
		if wrong != nil {
			return nil, usagef("%w", wrong)
		}
		t.Valid = time.Duration(min(o.Valid, mostValid) * float64(time.Second))
		all = append(all, t)
	}
	return all, nil
}

// mostValid is the maximum validity of an order in seconds.
const mostValid = 30 * 86400

// over replaces the terms of a script by the flags that are set.
func (o *submitOptions) over(c *cli.Context, a *asked) {
	for name, set := range map[string]func(){
		"class": func() { a.Class = o.Class }, "work": func() { a.Work = o.Work }, "deadline": func() { a.Deadline = o.Deadline },
		"nodes": func() { a.Nodes = o.Nodes }, "cpus": func() { a.CPUs = o.CPUs }, "budget": func() { a.Budget = o.Budget },
	} {
		if c.IsSet(name) {
			set()
		}
	}
}

// tasksFrom returns the contracts listed in a file. All contracts are checked before the
// first one is sent.
func tasksFrom(c *cli.Context, name string) (all []*client.Task, err error) {
	in, err := open(c, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := whole.ReadAll(in, 1<<24)
	if err != nil {
		return nil, err
	}
	root, err := config.Parse(name, text)
	if err != nil {
		return nil, err
	}
	var list []asked
	if err := root.Fill("", &list); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, usagef("%s: found no contract, want a list", name)
	}
	for i := range list {
		if list[i].Stdin == "-" {
			return nil, usagef("%s: stdin: found -, want a file, because several contracts cannot share standard input", name)
		}
		if list[i].in, err = list[i].input(c); err != nil {
			return nil, err
		}
		t, wrong := list[i].task()
		if wrong != nil {
			field, at, _ := root.Follow(config.Join(strconv.Itoa(i), wrong.Field))
			return nil, at.At.Fail(field, "%s", wrong.Problem)
		}
		all = append(all, t)
	}
	return all, nil
}
