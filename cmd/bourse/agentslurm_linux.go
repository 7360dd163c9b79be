package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"bourse/experiments/live"
	"bourse/hosts/agent"
	"bourse/hosts/link"
	"bourse/hosts/slurm"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"
)

// slurmKept is a text that states which guarantees of a market apply to hosts under Slurm.
const slurmKept = `On Slurm, bourse guarantees that processors are not oversold and that each task starts only once.
Payments can be audited and replayed. SIGTERM, checkpoints and retries (requeueing) also work.
Shares are not proportional to bids. A bid decides only admission and payment, so a higher bid does
not speed up a task. Idle capacity is not redistributed, and tasks may start after more than a
second. A paused task is stopped by signals, and its cores are idle.`

// slurmAgent runs an agent for each node of a Slurm partition.
func slurmAgent(c *cli.Context, o *agentOptions) error {
	switch {
	case o.Slurm == "" || o.Spool == "":
		return usagef("--slurm PARTITION, --spool DIR: found only one of these flags, want both")
	case c.NArg() > 0:
		return usagef("DIR: found %s, want none with --slurm, because --spool names the folder", c.Args().First())
	case o.Kind != "" || o.CPUs != 0 || o.Name != "" || o.RAM != 0 || len(o.Count) > 0:
		return usagef("--kind, --cpus, --name, --ram, --count: found one of these flags with --slurm, want none, because Slurm determines these values")
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Spool, 0o711); err != nil {
		return err
	}
	partition, err := slurm.Open(c.Context, o.Slurm, o.Spool, program)
	if err != nil {
		return err
	}
	log, err := newLog(c)
	if err != nil {
		return err
	}
	tokens, err := o.tokens(c)
	if err != nil {
		return err
	}
	var agents []*agent.Program
	defer func() {
		for _, a := range agents {
			a.Close()
		}
	}()
	settings, err := o.settings()
	if err != nil {
		return err
	}
	settings.Parts = len(partition.Nodes())
	for _, n := range partition.Nodes() {
		a, err := agent.LoadOn(n.Backend(), n.Dir(), settings)
		if err != nil {
			return err
		}
		if agents = append(agents, a); len(a.Offer.Trust) == 0 {
			return usagef("Slurm does not isolate users: name the accounts whose jobs these hosts may run with --trust ACCOUNT")
		}
		if !agent.Joined(n.Dir()) {
			if len(tokens) == 0 {
				return usagef("--join: found no token for node %s, want one line from 'bourse live host invite' per node that has not joined a market", n.Name())
			}
			say := func(text string) { log.Info(text, "node", n.Name()) }
			if err := a.Join(c.Context, tokens[0], say); err != nil {
				return fmt.Errorf("join %s: %w", n.Name(), err)
			}
			tokens = tokens[1:]
		}
		if partition.Market == "" {
			partition.Market = a.Market
		}
		if a.Market != partition.Market {
			return usagef("--spool: found nodes of the markets %s and %s, want nodes of only one market", partition.Market, a.Market)
		}
		announce(c, a)
	}
	note(c, "%s", live.WholeCores)
	return runSlurm(c.Context, partition, agents, func(text, node string) { log.Info(text, "node", node) })
}

// tokens returns the tokens of --join.
func (o *agentOptions) tokens(c *cli.Context) (all []link.Token, err error) {
	text, err := joinText(c, o.Join)
	if err != nil {
		return nil, err
	}
	for f := range strings.FieldsSeq(text) {
		t, err := link.ParseToken(f)
		if err != nil {
			return nil, usagef("--join: %w", err)
		}
		all = append(all, t)
	}
	return all, nil
}

// runSlurm runs the agents until all have been drained, or one fails.
func runSlurm(ctx context.Context, p *slurm.Partition, agents []*agent.Program, say func(text, node string)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- p.Run(ctx, func(text string) { say(text, "") }) }()
	all, inner := errgroup.WithContext(ctx)
	for i, n := range p.Nodes() {
		all.Go(func() error {
			err := agents[i].Run(inner, func(text string) { say(text, n.Name()) })
			if errors.Is(err, agent.ErrDrained) {
				say(err.Error(), n.Name())
				return nil
			}
			if errors.Is(err, agent.ErrSuperseded) {
				return usagef("%w", err)
			}
			return err
		})
	}
	err := all.Wait()
	stop()
	return errors.Join(err, <-served)
}
