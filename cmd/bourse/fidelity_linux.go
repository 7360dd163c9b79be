package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bourse/bank"
	"bourse/bank/keys"
	bankorder "bourse/bank/order"
	"bourse/contracts"
	"bourse/contracts/order"
	"bourse/experiments"
	"bourse/experiments/fidelity"
	"bourse/experiments/live"
	"bourse/experiments/live/client"
	"bourse/experiments/live/lab"
	"bourse/experiments/live/service"
	"bourse/experiments/live/wire"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
	"bourse/hosts/remote"
	"bourse/workloadgen"

	"github.com/urfave/cli/v2"
)

func fidelityCommand() *cli.Command {
	return &cli.Command{
		Name:      "fidelity",
		Usage:     "carry one plan out live and simulated, and say how near the two are",
		ArgsUsage: "[PLAN]",
		Description: `Sells this machine as some hosts, and asks a live market there for the jobs of a plan, whose
programs use as much processor time as they say; then decides the same again on hosts that
are computed, and compares decisions, prices, completions, shares and charges with what must
be. Times of the plan are divided by --scale, and a host counts as two of its processors.
Without PLAN it is of the paper's model. It takes about as long as the plan, over --scale, for each policy.

   bourse fidelity
   bourse fidelity plan.csv --scale 20 --hosts 2 --policy cac --out near

Nothing else may run there: a machine that gives less than 90 % of what is asked of it is no
test. Exit status 1 if a measure is not met, or cannot be tested.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "policy", Usage: "decide by `POLICY`; may be repeated (default: those of the paper's first workload)"},
			&cli.Float64Flag{Name: "scale", Value: 60, Usage: "let `X` seconds of the plan pass in one"},
			&cli.IntFlag{Name: "jobs", Value: 24, Usage: "draw `N` jobs, without PLAN"},
			seedFlag(),
			&cli.IntFlag{Name: "hosts", Value: 4, Usage: "sell this machine as `N` hosts"},
			&cli.Float64Flag{Name: "cpus", Usage: "sell `N` processors (default: all less one; below four, all less a half)"},
			&cli.StringFlag{Name: "kind", Usage: "enforce shares by `KIND`: cgroup2, cgroup1 or signals (default: the first that works)"},
			&cli.StringFlag{Name: "keep", Usage: "keep the markets in `DIR`"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write page and figure to `DIR` (default: results/fidelity)"},
			quietFlag(), jsonFlag[fidelity.Report](),
		},
		Action: fidelityAction,
	}
}

func fidelityAction(c *cli.Context) (err error) {
	scale := c.Float64("scale")
	if !(scale >= 1 && scale <= 1e4) {
		return usagef("--scale: found %v, want 1 to 10000", scale)
	}
	plan, err := fidelityPlan(c)
	if err != nil {
		return err
	}
	dir := c.String("keep")
	if dir == "" {
		if dir, err = os.MkdirTemp("", "bourse-fidelity-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	policies := c.StringSlice("policy")
	if len(policies) == 0 {
		if policies, err = papersPolicies(); err != nil {
			return err
		}
	}
	var runs []fidelity.Run
	for _, policy := range policies {
		run, err := liveOnce(c, filepath.Join(dir, policy), policy, plan, scale)
		if err != nil {
			return fmt.Errorf("%s: %w", policy, err)
		}
		runs = append(runs, *run)
	}
	r := fidelity.Compare(runs)
	d := r.Document(runs)
	d.Command = again(c, "policy", "scale", "jobs", "seed", "hosts", "cpus", "kind")
	wrote, err := writeDocument(orElse(c.String("out"), "results", "fidelity"), "fidelity.html", d)
	if err == nil {
		err = show(c, d, wrote)
	}
	switch {
	case err != nil:
		return err
	case !r.Testable:
		return errors.New("not testable: the machine gave less than 90 % of what was asked of it")
	case !r.Met():
		return errors.New("not all measures are met")
	}
	return nil
}

// papersPolicies returns those that the market paper compares on its first workload.
func papersPolicies() (names []string, err error) {
	preset := papers.Of("").Preset
	e, err := scenario.Parse("preset "+preset, papers.Presets()[preset], experiments.Known())
	if err == nil {
		for _, a := range e.Configurations[0].Admission {
			names = append(names, a.Name)
		}
	}
	return names, err
}

// fidelityPlan returns the jobs that are asked for.
func fidelityPlan(c *cli.Context) (workloadgen.Plan, error) {
	if file := c.Args().First(); file != "" {
		return workloadgen.ReadFile(file)
	}
	m, err := model(c, "paper", "")
	if err != nil {
		return nil, err
	}
	return m.Plan(scenario.Stream(c.Uint64("seed"), 0, "workload"), c.Int("jobs"), nil)
}

// liveOnce asks a new market in dir for the jobs of a plan, until all are over, and decides
// them again.
func liveOnce(c *cli.Context, dir, policy string, plan workloadgen.Plan, scale float64) (*fidelity.Run, error) {
	home := client.Home(filepath.Join(dir, "home"))
	if err := os.MkdirAll(string(home), 0o700); err != nil {
		return nil, err
	}
	private, err := keys.Keep(rand.Reader, home.KeyFile(), "me")
	if err != nil {
		return nil, err
	}
	public, err := keys.Of(private)
	if err != nil {
		return nil, err
	}
	rules := fmt.Sprintf("name: fidelity\nlisten: 127.0.0.1:0\nadmission: %s\nmarket: {window: %v}\nlink: {interval: 0.1, patience: 1}\n", policy, 300/scale)
	if _, err := live.Parse("--policy", []byte(rules)); err != nil {
		return nil, usagef("%w", err)
	}
	if err := lab.Make(c.Context, lab.Plan{Dir: dir, Market: "fidelity", Rules: []byte(rules), Account: keeper, Public: public, Money: bank.Micros(1e12)}, wall()); err != nil {
		return nil, err
	}
	l, err := openLab(c, dir)
	if err != nil {
		return nil, err
	}
	run := &fidelity.Run{Policy: policy, Scale: scale}
	before, _ := processors()
	err = l.planned(c, run, private, plan)
	after, ok := processors()
	if err = errors.Join(err, l.close()); err != nil {
		return nil, err
	}
	checked, err := checkLab(dir)
	if err != nil {
		return nil, err
	}
	run.Differences = len(checked.Differences)
	if run.Twice, err = live.DecideTwice(lab.File(dir, "log"), nil); err != nil {
		return nil, err
	}
	run.Steal = math.NaN()
	if ok {
		used := 0.0
		for _, s := range run.Twice.Shares {
			used += s.Delivered * s.For
		}
		run.Steal = max(0, after.busy-before.busy-used) / (after.all - before.all)
	}
	return run, nil
}

// planned runs the market until all jobs of a plan are over.
func (l *runningLab) planned(c *cli.Context, run *fidelity.Run, private string, plan workloadgen.Plan) error {
	agents, err := openAgents(c, l.dir, &l.conf.Limits)
	defer func() {
		for _, a := range agents {
			a.Close()
		}
	}()
	if err != nil {
		return err
	}
	run.CPUs = agents[0].Offer.CPUs
	note(c, "%s: %s, %.4g processors each, shares by %s", run.Policy, count(len(agents), "host"), run.CPUs, agents[0].Offer.Kind)
	return l.run(c.Context, l.membership("http://127.0.0.1"),
		func(ctx context.Context) error { return l.hosts(ctx, c, agents) },
		func(ctx context.Context) error { return l.ask(ctx, c, run, private, len(agents), plan) })
}

// ask asks for the jobs of a plan when they come, and waits until all are over.
func (l *runningLab) ask(ctx context.Context, c *cli.Context, run *fidelity.Run, private string, hosts int, plan workloadgen.Plan) error {
	for here := 0; here < hosts; {
		here = 0
		for _, h := range l.market.Hosts() {
			if h.State == "here" {
				here++
			}
		}
		if err := service.Pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	begun := time.Now()
	admitted := 0
	for i := range plan {
		j := &plan[i]
		if err := service.Pause(ctx, time.Until(begun.Add(time.Duration(j.Arrival/run.Scale*1e9)))); err != nil {
			return err
		}
		work := math.Round(j.Runtime/run.Scale*run.CPUs/perHost*100) / 100 // a program sees its time in hundredths
		budget, err := bank.Dollars(j.Value)
		if err != nil {
			return err
		}
		job := order.Text(&remote.Job{Command: burner(work)})
		terms := order.Terms{Nodes: min(j.Nodes, hosts), CPUs: run.CPUs, Work: max(work, 0.01), Deadline: j.Deadline / run.Scale, Budget: budget, Job: order.Sum(job)}
		o, err := terms.Order(order.Head{Ledger: l.ledger, Market: "fidelity", ID: "job-" + strconv.FormatInt(j.ID, 10), Account: keeper, Expires: wall() + 3600})
		if err != nil {
			return err
		}
		signed, err := bankorder.Sign([]byte(o.String()), private)
		if err != nil {
			return err
		}
		r, err := l.server.Submit(ctx, &wire.SubmitRequest{Order: signed, Job: job})
		if err != nil {
			return err
		}
		if r.GetAnswer().GetVerdict() == contracts.Accept.String() {
			admitted++
		}
	}
	for {
		open, err := l.market.List(live.Filter{})
		if err != nil || len(open) == 0 {
			note(c, "%s: %s, %d admitted, over after %.0f s", run.Policy, count(len(plan), "job"), admitted, time.Since(begun).Seconds())
			return err
		}
		if err := service.Pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// perHost is how many processors of the plan a host has, as in the paper.
const perHost = 2

// burner returns a program that uses so much processor time, s, and ends: a shell that
// looks at its own.
func burner(work float64) []string {
	const loop = `while read -r l </proc/self/stat; set -- $l; [ $((${14}+${15})) -lt %d ]; do i=0; while [ $i -lt 200 ]; do i=$((i+1)); done; done`
	return []string{"sh", "-c", fmt.Sprintf(loop, int(math.Round(work*100)))}
}

// times are what the processors have done since the machine began, s.
type times struct{ busy, all float64 }

// processors reads /proc/stat.
func processors() (t times, ok bool) {
	text, err := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if err != nil || len(fields) < 9 {
		return t, false
	}
	for i, f := range fields[1:9] { // user nice system idle iowait irq softirq steal
		x, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return t, false
		}
		t.all += x / 100
		if i != 3 && i != 4 {
			t.busy += x / 100
		}
	}
	return t, true
}
