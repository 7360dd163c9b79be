package main

import (
	"math"
	"strconv"

	"bourse/experiments/publication"
	"bourse/experiments/whatif"

	"github.com/urfave/cli/v2"
)

var incentivesCommand = command(`incentives [FILE]
measure whether users gain by misreporting

The command runs each replication of a scenario (default: the market paper's) with truthful reports.
It then repeats each replication for each sampled user and each misreport. In each of these runs,
the sampled user misreports all of its jobs, and all other users are truthful. Jobs, hosts and
random numbers are the same in all runs. The command prints the mean gain in true utility (§4.2, eq.
9, at --alpha, minus the payment), the percentage of users who gain, and the largest gain. The
intervals are simultaneous. Then users choose their best reports in turn, until no user can gain
more than --epsilon. The command prints the resulting equilibrium and its price of anarchy relative
to U*. Only the reports change; the true work and value of each job stay the same. Lies are

`+whatif.DeviationKinds()+`
   bourse study incentives --configuration pareto-high --replications 20
   bourse study incentives mine.yaml --lie value=0.5 --lie value=2 --alpha 0.5 --out lies
   bourse study incentives mine.yaml --lie sybils=3 --users 5 --answers 0 --json`, incentivesAction)

type incentivesOptions struct {
	Preset                        string   `doc:"run the preset {NAME} instead of a file"`
	Configuration                 []string `doc:"run only configuration {NAME}; may be repeated"`
	Replications                  string   `alias:"n" doc:"repeat every configuration {N} times, each with its own workload"`
	Seed                          string   `doc:"derive all random numbers from {SEED}"`
	Set                           []string `doc:"override a field of the scenario: {PATH=VALUE}"`
	Lie                           []string `shown:"each kind, see above" doc:"try the misreport {KIND=NUMBER}; may be repeated"`
	Alpha                         float64  `default:"1" doc:"assume users of inelasticity {A}, from 0 (elastic) to 1 (all or nothing)"`
	Epsilon                       float64  `default:"1" doc:"ignore gains of at most {E} dollars"`
	Users                         string   `default:"10" doc:"let {N} randomly chosen users per replication misreport, or all"`
	Answers                       int      `default:"5" doc:"let users respond to each other's reports in the first {N} replications"`
	Rounds                        int      `default:"30" doc:"let users respond in at most {N} rounds"`
	Out                           string   `alias:"o" doc:"write the page, the figure and the rows as CSV to {DIR}"`
	Workers                       int      `default:"cpus" validate:"min=1" doc:"run {N} replications in parallel; the results do not depend on N"`
	noProgressOption              `yaml:",inline"`
	output[whatif.IncentiveStudy] `yaml:",inline"`
}

func incentivesAction(c *cli.Context, o *incentivesOptions) error {
	users := math.MaxInt // all users
	if said := o.Users; said != "all" {
		n, err := strconv.Atoi(said)
		if err != nil || n < 1 {
			return usagef("--users: found %q, want a whole number from 1, or all", said)
		}
		users = n
	}
	t := whatif.Deviations{
		Configurations: o.Configuration, Deviations: whatif.UsualDeviations(),
		Alpha: o.Alpha, Epsilon: o.Epsilon,
		Users: users, Answers: o.Answers, Rounds: o.Rounds, Workers: o.Workers,
		Progress: progress(c, "incentives"),
	}
	if c.IsSet("lie") {
		t.Deviations = nil
	}
	for _, text := range o.Lie {
		d, err := whatif.ParseDeviation(text)
		if err != nil {
			return usagef("--lie: %w", err)
		}
		t.Deviations = append(t.Deviations, d)
	}
	ch, err := choose(c, o.Preset)
	if err != nil {
		return err
	}
	r, err := await(c.Context, func() (*whatif.IncentiveStudy, error) {
		return whatif.Incentives(c.Context, &ch.experiment, t)
	})
	if err != nil {
		return err
	}
	d := r.Document(publication.Labels())
	return showOut(c, o.Out, "incentives.html", d)
}
