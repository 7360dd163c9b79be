package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"bourse/hosts/agent"
	"bourse/hosts/link"
	"bourse/hosts/remote"

	"github.com/urfave/cli/v2"
)

// supervisor runs this process as a task supervisor if an agent started it as one.
func supervisor() { agent.Main() }

var agentCommand = command(`agent [DIR]
run this machine as a host of a market

The agent runs the market's tasks on this machine, enforces their shares, and reports their usage.
The agent only makes outgoing connections, so the market never connects to this machine. To join a
market, the machine needs a token from 'bourse live host invite'. A token can be used only once.
After that, the agent and the market identify each other by their certificates. DIR contains the
agent's certificate and the market's orders for this host.

Tasks continue if the agent stops. After a crash or an upgrade, the new agent finds the running
tasks. Without an agent, tasks continue until their lease from the market ends. They are then
paused.

   bourse live agent --join 192.0.2.7:8421/q1Vb…/n1Fc… --trust user:ann
   bourse live agent /srv/bourse --cpus 3 --kind cgroup2
   bourse live agent unit > /etc/systemd/system/bourse-agent.service
   bourse live agent drain --when-done
   bourse live agent --slurm batch --spool /shared/bourse --join @tokens --trust user:ann

With --slurm, the agent offers each node of a Slurm partition as a host, in whole cores; see
'bourse docs slurm'. Run the agent on a machine that can submit jobs, and use a folder that all
nodes share as --spool. The file in --join @FILE then contains one token per node, one per line.

`+slurmKept+`

As root, or in a systemd unit with delegation, the agent enforces shares with control groups
(cgroup2, cgroup1). Otherwise it enforces them by stopping and continuing processes (signals).
Signals do not isolate users, so the host then runs jobs only for the accounts given with --trust.
The default for DIR is /var/lib/bourse/agent for root, and ~/.local/state/bourse/agent for other
users.`, agentAction, agentShowCommand, agentUnitCommand, agentDrainCommand)

var agentShowCommand = command(`show [DIR]
print this host's market, offer and tasks

The command reads the files in DIR, and does not need a running agent.

   bourse live agent show
   bourse live agent show /srv/bourse --json`, showAction)

type agentShowOptions struct {
	jsonOption[agent.Status] `yaml:",inline"`
}

var agentUnitCommand = command(`unit [DIR]
print a systemd unit for the agent

The unit delegates control groups to the agent. Tasks continue when the agent is
stopped. Join the market first, or add --join to the unit's command.

   bourse live agent unit /srv/bourse > /etc/systemd/system/bourse-agent.service
   systemctl daemon-reload && systemctl enable --now bourse-agent`, unitAction)

var agentDrainCommand = command(`drain [DIR]
let this host leave its market

The agent tells the market that this host will accept no more tasks. If no agent is running, the
next agent informs the market when it starts. The agent exits when no task is running and the market
has confirmed the drain.

   bourse live agent drain --when-done
   bourse live agent drain /srv/bourse --stay`, drainAction)

type agentDrainOptions struct {
	WhenDone bool `yaml:"when-done" doc:"let running tasks finish"`
	Now      bool `doc:"end running tasks now; the market may start them on other hosts"`
	Stay     bool `doc:"cancel the draining"`
}

// agentDir returns the folder named on the command line, or the default folder.
func agentDir(c *cli.Context) (string, error) {
	if c.NArg() > 0 {
		return c.Args().First(), nil
	}
	if os.Geteuid() == 0 {
		return "/var/lib/bourse/agent", nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local/state/bourse/agent"), err
}

func agentAction(c *cli.Context, o *agentOptions) error {
	if name := o.Netns; name != "" {
		if err := enterNetwork(name); err != nil {
			return err
		}
	}
	if o.Slurm != "" || o.Spool != "" {
		return slurmAgent(c, o)
	}
	dir, err := agentDir(c)
	if err != nil {
		return err
	}
	var token link.Token
	if text := o.Join; text != "" {
		if text, err = joinText(c, text); err != nil {
			return err
		}
		if token, err = link.ParseToken(text); err != nil {
			return usagef("--join: %w", err)
		}
	} else if !agent.Joined(dir) {
		return usagef("%s has not joined a market: use --join TOKEN, with a token from 'bourse live host invite'", dir)
	}
	settings, err := o.settings()
	if err != nil {
		return err
	}
	p, err := agent.Load(dir, settings)
	if err != nil {
		return err
	}
	defer p.Close()
	if !p.Offer.Apart && len(p.Offer.Trust) == 0 {
		return usagef("%s does not isolate users: name the accounts whose jobs this host may run with --trust ACCOUNT", p.Offer.Kind)
	}
	log, err := newLog(c)
	if err != nil {
		return err
	}
	say := func(text string) { log.Info(text) }
	if token.Address != "" {
		if err := p.Join(c.Context, token, say); err != nil {
			return fmt.Errorf("join: %w", err)
		}
	}
	announce(c, p)
	err = p.Run(c.Context, say)
	switch {
	case errors.Is(err, agent.ErrDrained):
		note(c, "%v", err)
		return nil
	case errors.Is(err, agent.ErrSuperseded): // after a restart, this agent would displace the new one
		return usagef("%w", err)
	}
	return err
}

func showAction(c *cli.Context, o *agentShowOptions) error {
	dir, err := agentDir(c)
	if err != nil {
		return err
	}
	s, err := agent.Show(dir)
	if err != nil {
		return err
	}
	if o.JSON {
		return printJSON(c, s)
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "host %s of the market at %s: %v processors, shares by %s\n", s.Host, s.Market, s.CPUs, s.Kind)
	fmt.Fprintln(w, "task\tend\tstatus\tused\tcommand")
	for _, t := range s.Tasks {
		used := ""
		if t.End != "" {
			used = fmt.Sprintf("%.2f s", t.Used)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", t.Name, cmp.Or(t.End, "runs"), t.Status, used, cmp.Or(t.Fault, strings.Join(t.Command, " ")))
	}
	return w.Flush()
}

func unitAction(c *cli.Context, _ *none) error {
	dir, err := agentDir(c)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	// systemd expands % and, except in the program, $, also between quotes.
	program, dir = strings.ReplaceAll(program, "%", "%%"), strings.NewReplacer("%", "%%", "$", "$$").Replace(dir)
	_, err = fmt.Fprintf(c.App.Writer, unit, program, dir)
	return err
}

// unit is the systemd unit of the agent. The agent's tasks have their own control groups below
// the unit's control group. They keep running when the agent stops, and the next agent takes
// them over. Status 2 means a user error, which would occur again after a restart.
const unit = `[Unit]
Description=bourse agent: this machine as a host of a market
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=%q agent %q
Delegate=yes
KillMode=process
Restart=on-failure
RestartSec=1
RestartPreventExitStatus=2
StateDirectory=bourse

[Install]
WantedBy=multi-user.target
`

func drainAction(c *cli.Context, _ *agentDrainOptions) error {
	dir, err := agentDir(c)
	if err != nil {
		return err
	}
	asked := -1
	for i, name := range []string{"stay", "when-done", "now"} {
		if c.Bool(name) {
			if asked >= 0 {
				return usagef("drain: found several of --when-done, --now and --stay, want only one")
			}
			asked = i
		}
	}
	if asked < 0 {
		return usagef("drain: found no flag, want --when-done, --now or --stay")
	}
	return agent.Leave(dir, []remote.Leaving{remote.Stays, remote.WhenDone, remote.AtOnce}[asked])
}
