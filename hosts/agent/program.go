//go:build linux

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bourse/hosts/link"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

// Settings are the owner's settings of a host. Unset fields keep the values stored in the
// folder, or have defaults.
type Settings struct {
	Name      string        `json:",omitempty"` // preferred name of the host in its market
	Kind      string        `json:",omitempty"` // kernel interface; default: the first one that works
	CPUs      float64       `json:",omitempty"` // processors offered
	Trust     []string      `json:",omitempty"` // accounts whose jobs the host accepts if users are not isolated
	Offline   bool          `json:",omitempty"` // tasks have no network
	Limits    remote.Limits // limits for jobs that do not specify limits
	Memory    int64         `json:",omitempty"` // bytes of memory offered
	Parts     int           `json:"-"`          // number of hosts that share the disk and divide the default amount of disk
	Disk      int64         `json:",omitempty"` // bytes of disk offered
	Devices   Devices       `json:",omitempty"` // countable resources offered
	Bandwidth int64         `json:",omitempty"` // bytes per second offered, which are reserved but not enforced
	Stored    int64         `json:",omitempty"` // maximum number of bytes of output of ended tasks per account; default: twice Limits.Disk
	Address   string        `json:",omitempty"` // address at which other hosts reach the tasks; default: the address from which the host reaches the market
	Ports     [2]int32      `json:",omitzero"`  // first and last port that tasks may use; default: defaultPorts
}

// defaultPorts are below the ports that the kernel assigns to outgoing connections.
var defaultPorts = [2]int32{24000, 24999}

// byDefault contains the default limits of jobs.
var byDefault = remote.Limits{Memory: 1e9, Processes: 256, Files: 1024, Disk: 1e9, Log: 16 << 20}

// A Program is an agent with exclusive use of its folder.
type Program struct {
	Offer remote.Offer // of this machine
	Why   []error      // reasons why no better kernel interface works

	membership // market that the host has joined, if any
	agent      *Agent
	dir        string
	settings   Settings
	lock       *os.File
}

// A membership is the content of market.json: the market that the host has joined.
type membership struct {
	Address string // host:port
	Pin     string // pin of the market's certificate
	Host    string // name of the host in the market
	Market  string `json:",omitempty"` // name of the market
}

// Load opens the agent of a folder with settings s and creates the folder if necessary. Running
// tasks continue.
func Load(dir string, s Settings) (*Program, error) { return LoadOn(nil, dir, s) }

// LoadOn does the same as [Load] for an agent whose tasks run on b.
func LoadOn(b *Backend, dir string, s Settings) (*Program, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, err
	}
	p := &Program{dir: dir}
	if p.lock, err = lockFolder(dir); err == nil && p.lock == nil {
		err = fmt.Errorf("%s: another agent uses it", dir)
	}
	if err == nil {
		err = p.open(b, s)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// open opens the agent with its stored settings, changed by s.
func (p *Program) open(b *Backend, s Settings) error {
	if _, err := get(p.path("settings"), &p.settings); err != nil {
		return err
	}
	if _, err := get(p.path("market.json"), &p.membership); err != nil {
		return err
	}
	p.settings.take(s)
	// The offer should not change with each new kernel, or with the files that tasks have written.
	if memory := Memory(); p.settings.Memory == 0 || float64(p.settings.Memory) > 1.1*memory {
		p.settings.Memory = int64(memory)
	}
	if p.settings.Disk == 0 {
		free, total, err := diskSpace(p.dir)
		if err != nil {
			return err
		}
		p.settings.Disk = max(0, free-scarce(total)-reserved(total)) / int64(max(1, s.Parts))
	}
	if p.settings.Devices == nil {
		p.settings.Devices = DetectDevices()
	}
	s = p.settings
	if err := put(p.path("settings"), s, true); err != nil {
		return err
	}
	sum := number(p.dir)
	at := linux.Config{Group: fmt.Sprintf("bourse-%08x", sum), Dir: p.path("groups"), Processors: s.CPUs}
	var err error
	c := Config{
		Dir: p.dir, At: at, Network: !s.Offline, Grace: 10, Keep: 3600,
		Limits: or(s.Limits, byDefault), Stored: s.Stored,
	}
	if c.Stored == 0 {
		c.Stored = 2 * c.Limits.Disk
	}
	if c.Backend = b; b != nil {
		c.Kernel = b.Kernel
	} else if s.Kind == "" {
		c.Kernel, p.Why, err = linux.Detect(at)
	} else {
		c.Kernel, err = linux.Open(s.Kind, at)
	}
	if err != nil {
		return err
	}
	kind := c.Kernel.Kind()
	if os.Geteuid() == 0 {
		c.Users = users(sum)
	}
	p.Offer = remote.Offer{Kind: kind, CPUs: at.Offered(), Apart: os.Geteuid() == 0 && strings.HasPrefix(kind, "cgroup"), Trust: s.Trust}
	p.Offer.Memory, p.Offer.Counts = float64(s.Memory), s.Devices.counts()
	if b != nil {
		p.Offer = b.Offer
		p.Offer.Trust = s.Trust
	}
	p.Offer.Disk, p.Offer.Bandwidth = float64(s.Disk), float64(s.Bandwidth)
	p.Offer.Address, p.Offer.Ports = cmp.Or(p.Offer.Address, s.Address), cmp.Or(s.Ports, defaultPorts)
	c.Offer, c.Devices = p.Offer, s.Devices
	if p.agent, err = Open(c); err != nil {
		c.Kernel.Close()
	}
	return err
}

// number returns a number that distinguishes a folder from other folders.
func number(dir string) uint32 {
	sum := fnv.New32()
	sum.Write([]byte(dir))
	return sum.Sum32()
}

// users returns the first user ID for tasks of the folder with the given number. Folders whose
// names differ only in their last two digits, from 00 to 31, have disjoint ranges.
func users(number uint32) int { return 1_800_000_000 + int(number%10_000)*10_000 }

// take copies to o the fields that are set in s.
func (o *Settings) take(s Settings) {
	if s.Name != "" {
		o.Name = s.Name
	}
	if s.Kind != "" {
		o.Kind = s.Kind
	}
	if s.CPUs > 0 {
		o.CPUs = s.CPUs
	}
	if len(s.Trust) > 0 {
		o.Trust = s.Trust
	}
	o.Memory, o.Disk, o.Bandwidth = cmp.Or(s.Memory, o.Memory), cmp.Or(s.Disk, o.Disk), cmp.Or(s.Bandwidth, o.Bandwidth)
	if s.Devices != nil {
		o.Devices = s.Devices
	}
	o.Offline = o.Offline || s.Offline
	o.Limits = or(s.Limits, o.Limits)
	if s.Stored > 0 {
		o.Stored = s.Stored
	}
	o.Address, o.Ports = cmp.Or(s.Address, o.Address), cmp.Or(s.Ports, o.Ports)
}

func (p *Program) path(name string) string { return filepath.Join(p.dir, name) }

// Close releases the folder. Running tasks continue.
func (p *Program) Close() {
	if p.agent != nil {
		p.agent.Kernel.Close()
	}
	if p.lock != nil {
		p.lock.Close()
	}
}

// Join enrols the host with a market, using a token from the market's operator. While the
// market does not respond, it retries until ctx is done. A folder can belong to only one
// market.
func (p *Program) Join(ctx context.Context, token link.Token, say func(string)) error {
	// A new certificate is accepted only from the known address of the market.
	if p.Pin != "" && p.Pin != token.Pin && p.Address != token.Address {
		return fmt.Errorf("%s: its host is %s in the market at %s: another market needs a folder of its own", p.dir, p.Host, p.Address)
	}
	client, err := p.dial(token.Address, token.Pin, say)
	if err != nil {
		return err
	}
	defer client.Close()
	said := ""
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, mostWait) {
		host, market, err := client.Enrol(ctx, link.Enrolment{Secret: token.Secret, Name: p.settings.Name, Offer: p.Offer})
		if err == nil && p.Host != "" && p.Host != host && p.Pin != token.Pin {
			return fmt.Errorf("%s: its host is %s, and the token is for %s: want 'bourse live host invite %s', or a folder of its own", p.dir, p.Host, host, p.Host)
		}
		if err == nil {
			p.membership = membership{token.Address, token.Pin, host, market}
			return put(p.path("market.json"), p.membership, true)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, link.ErrToken) || errors.Is(err, link.ErrVersion) {
			return err
		}
		if err.Error() != said {
			said = err.Error()
			say(said)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// dial returns a client for a market that authenticates itself with the certificate of this
// folder. The client stores the pins that the market announces in the folder.
func (p *Program) dial(address, pin string, say func(string)) (*link.Client, error) {
	own, err := link.Identity(p.path("host.pem"), "host")
	if err != nil {
		return nil, err
	}
	was := p.membership
	return link.Dial(address, link.NewPins(pin, func(pins string) {
		if was.Host == "" { // the host has not joined yet
			return
		}
		if err := put(p.path("market.json"), membership{address, pins, was.Host, was.Market}, true); err != nil {
			say(err.Error())
			return
		}
		say("the market is known by the pin " + strings.ReplaceAll(pins, ",", ", and from its next certificate on by "))
	}), own), nil
}

// Joined reports whether the host of a folder has joined a market.
func Joined(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "market.json"))
	return err == nil
}

// Run connects the host to the market that it has joined; see [Agent.Serve].
func (p *Program) Run(ctx context.Context, say func(string)) error {
	client, err := p.dial(p.Address, p.Pin, say)
	if err != nil {
		return err
	}
	defer client.Close()
	if p.Offer.Address == "" { // address from which this machine reaches the market
		if c, err := net.Dial("udp", p.Address); err == nil { // sends nothing
			p.Offer.Address, _, _ = net.SplitHostPort(c.LocalAddr().String())
			c.Close()
		}
		p.agent.Offer.Address = p.Offer.Address
	}
	if err := put(p.path("offer.json"), p.Offer, false); err != nil {
		return err
	}
	return p.agent.Serve(ctx, client, p.Host, say)
}

// Serve connects the host, under the given name, to a market in the same process.
func (p *Program) Serve(ctx context.Context, m Market, host string, say func(string)) error {
	return p.agent.Serve(ctx, m, host, say)
}

// Leave records in a folder whether its host should leave the market. The agent need not be
// running.
func Leave(dir string, l remote.Leaving) error {
	if _, err := os.Stat(filepath.Join(dir, "settings")); err != nil {
		return fmt.Errorf("no agent's folder: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, "leaving"), []byte(leavings[l]+"\n"), 0o644)
}

// leavings are the possible contents of the file that Leave writes.
var leavings = [...]string{"stays", "when-done", "at-once"}

// Memory returns the number of bytes of memory that this machine offers by default: the
// whole memory minus 5 %, but at least minus 512 MB. The rest is reserved for the system.
func Memory() float64 {
	memory := 0.0
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
				memory, _ = strconv.ParseFloat(f[1], 64)
			}
		}
	}
	memory *= 1024
	return max(0, memory-max(512e6, 0.05*memory))
}
