package live

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"bourse/bank/peers"
	"bourse/contracts/admission/script"
	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/contracts/floor"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/experiments/scenario"
	"bourse/market/forecast"
)

// A Config is the content of a market's configuration file.
type Config struct {
	Name      string          `yaml:"name" validate:"required" doc:"name of the market; its account is market:NAME"`
	Listen    string          `yaml:"listen" doc:"address on which the market serves"`
	Bank      string          `yaml:"bank" doc:"folder, PostgreSQL URL, or https://… of a bank service"`
	BankPin   string          `yaml:"bank_pin" doc:"pin printed by the bank service; two pins, separated by a comma, while the bank changes its key"`
	Number    int64           `yaml:"number" validate:"min=0,max=1000000" doc:"number of the market, as in the market's right settle"`
	Market    scenario.Market `yaml:"market" doc:"rules for the sale of hosts"`
	Admission scenario.Choice `yaml:"admission" family:"admission" doc:"admission policy"`
	Floor     scenario.Floor  `yaml:"floor_per_hour" doc:"minimum pay of hosts, in dollars per hour"`
	Leaving   Leaving         `yaml:"leaving" doc:"rule for the tasks of a lost host"`
	Link      Link            `yaml:"link" doc:"connection to the hosts"`
	Limits    Limits          `yaml:"limits" doc:"defaults and limits for jobs and orders"`
	Promises  penalties       `yaml:"promises" doc:"penalty, by class, for work that a host or the market failed to deliver (default: none). The owner of the host with the largest shortfall pays first, and the market pays the rest, except to an owner of that host"`
	Quotas    []Quota         `yaml:"quotas" doc:"limits on the usage of each account; an order that exceeds a limit by itself is refused, and an order that exceeds a limit only together with others is held"`
	Keep      float64         `yaml:"keep" validate:"min=0,max=100000" doc:"number of days for which the log is stored for 'bourse live check', plus up to one thirtieth; 0 stores the whole log"`

	text   []byte // text of the file
	script []byte // text of the policy's script, if the policy is a script
}

// Leaving is the rule for the tasks of a lost host.
type Leaving struct {
	Rule string `yaml:"rule" doc:"resubmit, lost or suspend"`
	Lost string `yaml:"lost_work" validate:"oneof=free charged" doc:"free (lost work is not charged) or charged"`
}

// A Link specifies how often a market and its hosts exchange messages.
type Link struct {
	Interval float64 `yaml:"interval" validate:"gt=0,max=60" doc:"time between two reports from a host, in seconds"`
	Lease    float64 `yaml:"lease" validate:"gt=0,max=3600" doc:"time after the last acknowledged report at which a host pauses its tasks, in seconds"`
	Lost     float64 `yaml:"lost" validate:"gt=0,max=3600" doc:"time without a report after which the market treats a host as lost, in seconds"`
	Patience float64 `yaml:"patience" validate:"gt=0,max=3600" doc:"time after a deadline for which the market waits for the last reports from hosts, in seconds"`
}

// The minimum lease of hosts of whole cores, and the minimum time after which such a host is
// lost, in seconds. The agents and tasks of such hosts share a network file system, whose cache
// can be a minute old.
const (
	wholeLease = 60
	wholeLost  = 120
)

// leaseOf returns the lease of a host. The argument reports whether the host has whole cores.
func (l *Link) leaseOf(whole bool) float64 {
	if whole {
		return max(l.Lease, wholeLease)
	}
	return l.Lease
}

// lostOf returns the time without a report after which a host is lost.
func (l *Link) lostOf(whole bool) float64 {
	if whole {
		return max(l.Lost, wholeLost, l.Lease+wholeLease)
	}
	return l.Lost
}

// Limits are the upper bounds on jobs and orders.
type Limits struct {
	Memory      float64 `yaml:"memory" validate:"min=0,max=1e18" doc:"bytes per node"`
	Processes   int     `yaml:"processes" validate:"min=0,max=1000000" doc:"processes per node"`
	Disk        float64 `yaml:"disk" validate:"min=0,max=1e18" doc:"bytes per node"`
	Checkpoint  float64 `yaml:"checkpoint" validate:"min=0,max=1e12" doc:"maximum size of the last checkpoint of a node, in bytes; the market stores the checkpoint until the contract ends"`
	Log         float64 `yaml:"log" validate:"min=0,max=1e18" doc:"maximum size of each output of a node, in bytes"`
	Keep        float64 `yaml:"keep" validate:"min=0,max=1e18" doc:"maximum size of the stored output of one account's ended tasks on a host of 'bourse live start', in bytes; 0 means twice the value of disk"`
	Files       float64 `yaml:"files" validate:"min=1e8,max=1e18" doc:"maximum size of all jobs and files that the market stores, in bytes"`
	Orders      int     `yaml:"orders_per_second" validate:"min=1,max=1000000" doc:"maximum number of orders per second from one account"`
	Connections int     `yaml:"connections" validate:"min=2,max=1000000" doc:"maximum number of simultaneous connections, and of simultaneous calls; one address may have at most half of each"`
}

// Default returns a configuration with the default of every field except the name, which is
// empty.
func Default() Config {
	return Config{
		Listen: "127.0.0.1:8421", Bank: "books",
		Market: scenario.Market{
			Sharing: scenario.Named("auction"), Bidding: scenario.Named("best-response"), Payment: "spot",
			Forecaster: scenario.Named("chebyshev"), Window: 300, Instant: "ends-first",
		},
		Admission: scenario.Named("class"),
		Leaving:   Leaving{Rule: "resubmit", Lost: "free"},
		Link:      Link{Interval: 1, Lease: 20, Lost: 30, Patience: 5},
		Limits:    Limits{Memory: 1e9, Processes: 256, Disk: 1e9, Checkpoint: 1e9, Log: 16e6, Files: 10e9, Orders: 50, Connections: peers.Connections},
		Keep:      30,
	}
}

// load decodes the policy's options. A market rejects policies that are external programs,
// because such a program could block the market.
func (c *Config) load(options any) error {
	err := c.Admission.Decode(options)
	if o, is := options.(*script.Options); is && err == nil {
		err = o.Load(func(string) ([]byte, error) { return c.script, nil }, nil)
	}
	return err
}

// readScript reads the policy's script from the folder of the market's file. It does
// nothing if the policy is not a script.
func (c *Config) readScript(name string) (err error) {
	file, is := c.Admission.Options()["file"].(string)
	if !is {
		return nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(name), file)
	}
	c.script, err = os.ReadFile(file)
	return c.Admission.Blame(err)
}

// drift is the maximum difference between the clock rates of two machines, 500 ppm. It is
// added to the measured difference.
const drift = 0.9995

// Parse reads a market's configuration file. An error is a *config.Error or describes fields
// that contradict each other.
func Parse(name string, data []byte, sets ...string) (Config, error) {
	c := Default()
	c.text = data
	if err := scenario.Fill(name, data, &c, sets...); err != nil {
		return c, err
	}
	if err := c.readScript(name); err != nil {
		return c, err
	}
	if !(c.Link.Lease < c.Link.Lost*drift) {
		return c, fmt.Errorf("%s: link.lease: found %v, want less than link.lost (%v), because a task must pause before it is placed elsewhere", name, c.Link.Lease, c.Link.Lost)
	}
	if made := policies.Of(c.Admission.Name).Sharing; policies.Of(c.Admission.Name).Books || c.Admission.Name == unsold {
		return c, fmt.Errorf("%s: admission: found %s, which works only in simulations because it has its own books; want a policy that decides immediately (sharing is %s)", name, c.Admission.Name, made)
	}
	_, err := c.rules("")
	return c, err
}

// differs returns the fields that affect decisions and differ between c and another
// configuration. It returns nil if there are none.
func (c Config) differs(other Config) *scenario.Difference {
	c.Link, other.Link = Link{Patience: c.Link.Patience}, Link{Patience: other.Link.Patience}
	return scenario.Differ(&c, &other, "listen", "bank", "bank_pin", "limits", "keep")
}

// unsold is a policy that predicts which hosts will stay. A live market does not support it.
const unsold = "queue"

// seed returns the seed of the market's random choices. A simulation of the scenario that
// [Export] writes therefore breaks ties in the same way.
func (c *Config) seed(ledger string) uint64 {
	sum := sha256.Sum256([]byte(ledger + " " + c.Name))
	return binary.BigEndian.Uint64(sum[:]) >> 1
}

// rules returns the configuration of the broker that the market's file specifies. The seed of
// random choices is derived from the ID of a ledger.
func (c *Config) rules(ledger string) (b broker.Config, err error) {
	stream := func(name string) *rand.Rand { return rand.New(scenario.Stream(c.seed(ledger), 0, name)) }
	shares := c.Market.Sharing
	if s := c.Admission.Sharing; s != nil {
		shares = *s
	}
	bid, err := bidding.Table(stream("bidding")).New(c.Market.Bidding.Name, c.Market.Bidding.Decode)
	if err != nil {
		return b, c.Market.Bidding.Blame(err)
	}
	if b.Policy, err = policies.WithOutside(bid, stream("admission")).New(c.Admission.Name, c.load); err != nil {
		return b, c.Admission.Blame(err)
	}
	if b.Sharing, err = sharing.Table().New(shares.Name, shares.Decode); err != nil {
		return b, shares.Blame(err)
	}
	if b.Forecast, err = forecast.Table().New(c.Market.Forecaster.Name, c.Market.Forecaster.Decode); err != nil {
		return b, c.Market.Forecaster.Blame(err)
	}
	if b.Payment, err = broker.Payments().New(c.Market.Payment, nil); err != nil {
		return b, fmt.Errorf("market.payment: %w", err)
	}
	if c.Market.Reserve > 0 && !b.Payment.Scarce {
		return b, fmt.Errorf("market.reserve: found %v with payment %s, want 0 or payment scarce", c.Market.Reserve, c.Market.Payment)
	}
	leaving, err := floor.Leavings().New(c.Leaving.Rule, nil)
	if err != nil {
		return b, fmt.Errorf("leaving.rule: %w", err)
	}
	b.Availability = &floor.Availability{Leaving: leaving, Charged: c.Leaving.Lost == "charged"}
	b.Promise = func(class string) (part, most float64) {
		p := c.Promises.of(c.classOf(class))
		return p.Penalty, p.Most
	}
	b.Window, b.Notes, b.NoPrices = c.Market.Window, true, true
	b.Ties = stream("ties")
	b.Patience, b.Reserve = c.Link.Patience, c.Market.Reserve
	b.Counts = c.counts()
	if b.Resources, b.Least, err = c.prices(); err != nil {
		return b, err
	}
	b.Licences, _, _ = c.licences()
	if policies.Properties(c.Admission.Name, b.Policy).Spot {
		b.Renew = c.Market.Renew
	}
	return b, nil
}
