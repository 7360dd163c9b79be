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
	"bourse/workloadgen/config"

	"github.com/urfave/cli/v2"
)

// supervisor runs this process as a task supervisor if an agent started it as one.
func supervisor() { agent.Main() }

func agentCommand() *cli.Command {
	return &cli.Command{
		Name:      "agent",
		Usage:     "stand for this machine as a host of a market",
		ArgsUsage: "[DIR]",
		Description: `Runs what the market wants here, shares the processors as it deals them, and tells what
was used. It only dials out: the market never reaches this machine. A token, which the
market's keeper prints by 'bourse host invite', joins it to a market, once; from then on
it knows the market by its certificate, and is known by its own, in DIR. What it is told
of this host is kept there, too.

What runs outlives the agent: killed or upgraded it takes up its tasks again. Without it
they go on until the market's lease is over, and stand.

   bourse agent --join 192.0.2.7:8421/q1Vb…/n1Fc… --trust user:ann
   bourse agent /srv/bourse --cpus 3 --kind cgroup2
   bourse agent unit > /etc/systemd/system/bourse-agent.service
   bourse agent drain --when-done

Shares are kept by control groups (cgroup2, cgroup1), as root or in a unit of systemd that
is delegated; else by stopping and continuing processes (signals), which keeps users not
apart: then it takes jobs of the accounts of --trust alone. By default DIR is
/var/lib/bourse/agent for root, and for others ~/.local/state/bourse/agent.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "join", Usage: "join the market of `TOKEN`, or of the file @FILE that holds it"},
			&cli.StringFlag{Name: "name", Usage: "ask for `NAME` in the market"},
			&cli.Float64Flag{Name: "cpus", Usage: "offer `N` processors (default: all less one, below four all less a half)"},
			&cli.StringFlag{Name: "kind", Usage: "share by `KIND`: cgroup2, cgroup1, signals or none (default: the first that works); signals misses shares on a busy machine"},
			&cli.StringSliceFlag{Name: "trust", Usage: "take jobs of `ACCOUNT` although users are not kept apart; may be repeated"},
			&cli.BoolFlag{Name: "offline", Usage: "tasks have no network"},
			&cli.StringFlag{Name: "netns", Usage: "run in network namespace `NAME`, of 'ip netns add', as root"},
			quantityFlag("memory", config.Bytes, "`BYTES` of memory for a task that does not say, or as 4GB"),
			quantityFlag("disk", config.Bytes, "`BYTES` of its folder for a task that does not say, or as 4GB"),
			quantityFlag("stored", config.Bytes, "`BYTES` of output that ended tasks of one account may leave (default: twice --disk)"),
			&cli.IntFlag{Name: "processes", Usage: "at most `N` processes in a task that does not say"},
			logFlag(), quietFlag(),
		},
		Action: agentAction,
		Subcommands: []*cli.Command{
			{
				Name: "show", Usage: "print what this machine is to its market, and what runs here", ArgsUsage: "[DIR]",
				Description: `Reads the files of DIR, whether an agent uses it or not.

   bourse agent show
   bourse agent show /srv/bourse --json`,
				Flags:  []cli.Flag{jsonFlag[agent.Status]()},
				Action: showAction,
			},
			{
				Name: "unit", Usage: "print a unit of systemd for the agent", ArgsUsage: "[DIR]",
				Description: `Delegates control groups to the agent, and lets its tasks live on when it is stopped.
Join the market first, or give the unit's command --join.

   bourse agent unit /srv/bourse > /etc/systemd/system/bourse-agent.service
   systemctl daemon-reload && systemctl enable --now bourse-agent`,
				Action: unitAction,
			},
			{
				Name: "drain", Usage: "let the host leave its market, when its tasks have ended or at once", ArgsUsage: "[DIR]",
				Description: `Tells the market that this host takes no more: the agent that runs, or the next one. It
ends when nothing runs here and the market knows.

   bourse agent drain --when-done
   bourse agent drain /srv/bourse --stay`,
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "when-done", Usage: "what runs here runs to its end"},
					&cli.BoolFlag{Name: "now", Usage: "what runs here is ended, and begun anew elsewhere if its market does that"},
					&cli.BoolFlag{Name: "stay", Usage: "take it back"},
				},
				Action: drainAction,
			},
		},
	}
}

// agentDir returns the folder that c names, or the default one.
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

func agentAction(c *cli.Context) error {
	if name := c.String("netns"); name != "" {
		if err := enterNetwork(name); err != nil {
			return err
		}
	}
	dir, err := agentDir(c)
	if err != nil {
		return err
	}
	var token link.Token
	if text := c.String("join"); text != "" {
		if file, ok := strings.CutPrefix(text, "@"); ok {
			bytes, err := readText(c, file)
			if err != nil {
				return err
			}
			text = string(bytes)
		}
		if token, err = link.ParseToken(text); err != nil {
			return usagef("--join: %w", err)
		}
	} else if !agent.Joined(dir) {
		return usagef("%s has joined no market: want --join TOKEN, of 'bourse host invite'", dir)
	}
	p, err := agent.Load(dir, agent.Settings{
		Name: c.String("name"), Kind: c.String("kind"), CPUs: c.Float64("cpus"), Trust: c.StringSlice("trust"), Offline: c.Bool("offline"),
		Limits: remote.Limits{Memory: int64(amount(c, "memory")), Disk: int64(amount(c, "disk")), Processes: c.Int("processes")},
		Stored: int64(amount(c, "stored")),
	})
	if err != nil {
		return err
	}
	defer p.Close()
	if !p.Offer.Apart && len(p.Offer.Trust) == 0 {
		return usagef("%s keeps users not apart here: say by --trust ACCOUNT whose jobs this host takes", p.Offer.Kind)
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
	case errors.Is(err, agent.ErrSuperseded): // to start it again would only do that to the other
		return usagef("%w", err)
	}
	return err
}

// announce says what the host is to its market.
func announce(c *cli.Context, p *agent.Program) {
	apart := "users are kept apart"
	if !p.Offer.Apart {
		apart = "users are not kept apart: jobs of " + strings.Join(p.Offer.Trust, ", ") + " alone"
	}
	note(c, "host %s of the market at %s: %v processors, shares by %s; %s", p.Host, p.Address, p.Offer.CPUs, p.Offer.Kind, apart)
	for _, why := range p.Why {
		note(c, "%s", why)
	}
}

func showAction(c *cli.Context) error {
	dir, err := agentDir(c)
	if err != nil {
		return err
	}
	s, err := agent.Show(dir)
	if err != nil {
		return err
	}
	if c.Bool("json") {
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

func unitAction(c *cli.Context) error {
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
	_, err = fmt.Fprintf(c.App.Writer, unit, program, dir)
	return err
}

// unit is the agent's, of systemd. Its tasks are in groups of their own below the unit's:
// they live on when the agent is stopped, and the next one takes them up. Status 2 is a
// mistake that another start would repeat.
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

func drainAction(c *cli.Context) error {
	dir, err := agentDir(c)
	if err != nil {
		return err
	}
	asked := -1
	for i, name := range []string{"stay", "when-done", "now"} {
		if c.Bool(name) {
			if asked >= 0 {
				return usagef("drain: want one of --when-done, --now and --stay")
			}
			asked = i
		}
	}
	if asked < 0 {
		return usagef("drain: want --when-done, --now or --stay")
	}
	return agent.Leave(dir, []remote.Leaving{remote.Stays, remote.WhenDone, remote.AtOnce}[asked])
}
