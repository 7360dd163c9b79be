package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bourse/contracts/order"
	"bourse/hosts/agent"
	"bourse/hosts/remote"

	"github.com/urfave/cli/v2"
)

// An agentOptions contains the flags of an agent.
type agentOptions struct {
	Join        string   `doc:"join the market with {TOKEN}, or with the token in a file (@FILE)"`
	Name        string   `doc:"request the host name {NAME}"`
	CPUs        float64  `doc:"offer {N} processors (default: all but one; all but half a processor on machines with fewer than four)"`
	Kind        string   `doc:"enforce shares with {KIND}: cgroup2, cgroup1, signals or none (default: the first that works); signals is inexact on a busy machine"`
	Trust       []string `doc:"accept jobs from {ACCOUNT}, although users are not isolated; may be repeated"`
	Offline     bool     `doc:"run tasks without network access"`
	Slurm       string   `doc:"offer each node of Slurm partition {PARTITION} as a host that allocates only whole cores"`
	Spool       string   `doc:"store the state of the nodes' agents in {DIR}, which all nodes share"`
	Address     string   `doc:"let the nodes of a contract reach this host at {ADDRESS} (default: the local address of the connection to the market)"`
	Ports       string   `doc:"let contracts with several nodes use the ports {FIRST-LAST} (default: 24000-24999)"`
	Netns       string   `doc:"run in the network namespace {NAME}, created with 'ip netns add'; requires root"`
	Memory      float64  `unit:"bytes" doc:"limit the memory of a task to {BYTES} by default; units such as 4GB are accepted"`
	Disk        float64  `unit:"bytes" doc:"limit the disk space of a task to {BYTES} by default; units such as 4GB are accepted"`
	Stored      float64  `unit:"bytes" doc:"store at most {BYTES} of output from the ended tasks of each account (default: twice --disk)"`
	Processes   int      `doc:"limit a task to {N} processes by default"`
	heldOptions `yaml:",inline"`
	logOption   `yaml:",inline"`
	quietOption `yaml:",inline"`
}

// A heldOptions contains the flags for the resources that a host offers for tasks to hold.
type heldOptions struct {
	RAM       float64  `unit:"bytes" doc:"offer {BYTES} of memory (default: all memory minus 5 % of it, or minus 512 MB if that is more)"`
	Storage   float64  `unit:"bytes" doc:"offer {BYTES} of disk to markets that sell disk (default: all that is free, minus 5 %, but at least 1 GB)"`
	Bandwidth float64  `unit:"bytes" doc:"offer {BYTES} per second to markets that sell bandwidth; tasks reserve it, but no limit is enforced"`
	Count     []string `doc:"offer {NAME=FILES}, such as gpu=/dev/nvidia0,/dev/nvidia1, or N units (default: the machine's NVIDIA GPUs)"`
}

// devices returns the countable resources of --count. If the flag is not given, it returns
// nil, and the agent detects them.
func (o *heldOptions) devices() (agent.Devices, error) {
	if len(o.Count) == 0 {
		return nil, nil
	}
	all := make(agent.Devices)
	for _, text := range o.Count {
		name, units, _ := strings.Cut(text, "=")
		if !order.IsCountable(name) || units == "" {
			return nil, usagef("--count: found %q, want NAME=FILE,FILE or NAME=N, with a name such as gpu", text)
		}
		if n, err := strconv.Atoi(units); err == nil && n >= 0 && n <= mostUnits {
			all[name] = make([]string, n)
			continue
		}
		for file := range strings.SplitSeq(units, ",") {
			if !filepath.IsAbs(file) {
				return nil, usagef("--count: found %q, want the absolute path of a device file, or a number up to %d", file, mostUnits)
			}
			if _, err := os.Stat(file); err != nil {
				return nil, usagef("--count: %w, want a device file", err)
			}
			all[name] = append(all[name], filepath.Clean(file))
		}
	}
	return all, nil
}

// mostUnits is the maximum number of units of a resource that can be given as a number.
const mostUnits = 1 << 16

// settings returns the settings of an agent.
func (o *agentOptions) settings() (s agent.Settings, err error) {
	var ports [2]int32
	if o.Ports != "" {
		first, last, _ := strings.Cut(o.Ports, "-")
		a, wrong := strconv.ParseUint(first, 10, 16)
		b, wrong2 := strconv.ParseUint(last, 10, 16)
		if wrong != nil || wrong2 != nil || a < 1024 || b < a+remote.BlockPorts-1 {
			return s, usagef("--ports: found %q, want the first and the last of at least %d ports from 1024 to 65535, such as 24000-24999", o.Ports, remote.BlockPorts)
		}
		ports = [2]int32{int32(a), int32(b)}
	}
	devices, err := o.devices()
	return agent.Settings{
		Address: o.Address, Ports: ports, Memory: int64(o.RAM), Disk: int64(o.Storage), Bandwidth: int64(o.Bandwidth), Devices: devices,
		Name: o.Name, Kind: o.Kind, CPUs: o.CPUs, Trust: o.Trust, Offline: o.Offline,
		Limits: remote.Limits{Memory: int64(o.Memory), Disk: int64(o.Disk), Processes: o.Processes},
		Stored: int64(o.Stored),
	}, err
}

// joinText returns the value of --join, or the content of the file that it names.
func joinText(c *cli.Context, text string) (string, error) {
	file, ok := strings.CutPrefix(text, "@")
	if !ok {
		return text, nil
	}
	bytes, err := readText(c, file)
	return string(bytes), err
}

// announce prints the terms on which the market uses this host.
func announce(c *cli.Context, p *agent.Program) {
	apart := "users are isolated"
	if !p.Offer.Apart {
		apart = "users are not isolated, so this host runs jobs only for " + strings.Join(p.Offer.Trust, ", ")
	}
	note(c, "host %s of the market at %s: %v processors, shares by %s; %s", p.Host, p.Address, p.Offer.CPUs, p.Offer.Kind, apart)
	if p.Offer.Bandwidth > 0 {
		note(c, "tasks reserve bandwidth, but this host does not enforce it")
	}
	for _, why := range p.Why {
		note(c, "%s", why)
	}
}
