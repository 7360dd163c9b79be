package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"bourse/bank/whole"
	"bourse/experiments/live"
	"bourse/experiments/live/lab"
	"bourse/hosts/agent"
	"bourse/hosts/linux"
	"bourse/hosts/remote"

	"github.com/urfave/cli/v2"
)

// The maximum number of hosts on one machine, and the smallest fraction of a processor per
// host. Kernels do not allocate smaller fractions.
const (
	mostHosts = 32
	leastHost = 0.05
)

// hostName returns the market's name for host i of its own machine.
func hostName(i int) string { return fmt.Sprintf("h%02d", i) }

// A division specifies the number of hosts into which a machine is divided. It is stored in
// hosts.json and never changes. A market without this file has one host.
type division struct {
	Hosts int     `json:"hosts"`
	CPUs  float64 `json:"cpus"` // processors per host; 0 means the value stored by the host's agent or, if there is none, the agent's default
}

// dir returns the folder of a host's agent inside the lab's folder.
func (d *division) dir(i int) string {
	if d.Hosts == 1 {
		return "host"
	}
	return "hosts/" + hostName(i)
}

// read reads the division of the lab in dir. The division has 0 hosts if the lab was never
// served.
func (d *division) read(dir string) error {
	text, err := whole.Read(lab.File(dir, "hosts.json"), mostText)
	if err == nil {
		return json.Unmarshal(text, d)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, err = os.Stat(lab.File(dir, "host")); err == nil {
			d.Hosts = 1
		} else if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return err
}

// divide returns the division of the machine for the lab in dir. For a new lab, the flags
// determine the division.
func divide(c *cli.Context, dir string) (d division, err error) {
	if err := d.read(dir); err != nil {
		return d, err
	}
	asked, cpus, made := c.Int("hosts"), c.Float64("cpus"), d.Hosts > 0
	if made && c.IsSet("hosts") && asked != d.Hosts {
		return d, usagef("--hosts: found %d, want %d, as in the market in %s; for another number, use another DIR", asked, d.Hosts, dir)
	}
	if !made {
		d.Hosts = asked
	}
	if d.Hosts == 1 {
		d.CPUs = cpus
		return d, nil
	}
	if !made || cpus > 0 {
		at := linux.Config{Processors: cpus}
		all := at.Offered()
		if most := min(mostHosts, int(all/leastHost)); d.Hosts < 1 || d.Hosts > most {
			return d, usagef("--hosts: found %d, want 1 to %d, because each host needs at least %v of the %v processors sold", d.Hosts, most, leastHost, all)
		}
		d.CPUs = all / float64(d.Hosts)
	}
	if made {
		return d, nil
	}
	text, err := json.Marshal(d)
	if err == nil {
		err = whole.Write(lab.File(dir, "hosts.json"), append(text, '\n'))
	}
	return d, err
}

// resizes returns an error if the division would change the size of a host with running tasks.
// It is called before any change is made, so the command can be repeated without --cpus.
func (d *division) resizes(all []live.Host) error {
	if d.CPUs == 0 {
		return nil
	}
	at := linux.Config{Processors: d.CPUs}
	for i := range all {
		if h := &all[i]; h.State != "removed" && len(h.Contracts) > 0 && h.CPUs != at.Offered() {
			return usagef("--cpus: host %s has %v processors and runs %s; use --cpus %v until these tasks have ended", h.Name, h.CPUs, count(len(h.Contracts), "task"), h.CPUs*float64(d.Hosts))
		}
	}
	return nil
}

// openAgents opens the agents that sell this machine for the lab in dir, in the order of
// their hosts' names. On an error, it also returns the agents opened so far. The parameter
// all contains every host that the market knows.
func openAgents(c *cli.Context, sells agent.Settings, dir string, limits *live.Limits, all []live.Host) (agents []*agent.Program, err error) {
	d, err := divide(c, dir)
	if err == nil {
		err = d.resizes(all)
	}
	if err != nil {
		return nil, err
	}
	if d.Hosts > 1 {
		if len(sells.Devices) > 0 {
			return nil, usagef("--count: found %s, want one host, because a device file belongs to one host", count(d.Hosts, "host"))
		}
		sells.Devices = agent.Devices{} // only the first host offers the machine's GPUs
		sells.Memory = int64(cmp.Or(float64(sells.Memory), agent.Memory()) / float64(d.Hosts))
		sells.Disk, sells.Bandwidth = sells.Disk/int64(d.Hosts), sells.Bandwidth/int64(d.Hosts)
	}
	for i := range d.Hosts {
		a, err := agent.Load(lab.File(dir, d.dir(i)), agent.Settings{
			Name: hostName(i), Kind: c.String("kind"), CPUs: d.CPUs, Trust: []string{keeper},
			Limits: remote.Limits{Memory: int64(limits.Memory), Processes: limits.Processes, Disk: int64(limits.Disk), Log: int64(limits.Log)},
			Stored: int64(limits.Keep), Address: "127.0.0.1", Memory: sells.Memory, Disk: sells.Disk, Parts: d.Hosts, Bandwidth: sells.Bandwidth, Devices: sells.Devices,
		})
		if err != nil {
			return agents, err
		}
		agents = append(agents, a)
	}
	return agents, nil
}
