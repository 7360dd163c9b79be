package broker

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/floor"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/sim"
	"bourse/market/forecast"
	"bourse/workloadgen/config"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the answers in testdata/*.script")

// TestScripts checks conversations with the market that are small enough to check on paper. The
// comments in the scripts contain the arithmetic. A script consists of lines of commands. Each
// is followed by its indented answers.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.script")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".script"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := converse(t, string(want))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if line, a, b := firstDifference(got, string(want)); line > 0 {
				t.Errorf("%s:%d: answer\n\t%q, want\n\t%q", file, line, a, b)
			}
		})
	}
}

const indent = "    "

// converse returns the script with the market's answers.
func converse(t *testing.T, script string) string {
	var out strings.Builder
	c := newConversation()
	for number, line := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if strings.HasPrefix(line, indent) {
			continue // the line is an answer
		}
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		answers, err := c.obey(strings.Fields(line))
		if err != nil {
			t.Fatalf("line %d: %s: %v", number+1, line, err)
		}
		for _, a := range answers {
			out.WriteString(indent + a + "\n")
		}
	}
	return out.String()
}

func firstDifference(got, want string) (line int, a, b string) {
	as, bs := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(as), len(bs)) {
		a, b = "", ""
		if i < len(as) {
			a = as[i]
		}
		if i < len(bs) {
			b = bs[i]
		}
		if a != b {
			return i + 1, a, b
		}
	}
	return 0, "", ""
}

// A conversation is a market that executes commands. The first command that needs the market
// creates it.
type conversation struct {
	spec              hosts.Spec
	hosts             int
	cpus, speeds      []float64 // processors and speeds of the first hosts, if they differ
	policy, bid       string
	options           string // options of the policy in YAML
	payment, forecast string
	window            float64
	coins             coins // random numbers of the policy
	ledger            *bank.Ledger
	provider          bank.Account
	broker            *Broker
	now               float64
	ended, refused    int

	here    map[int][]availability.Record // times at which each host is available
	churn   floor.Availability
	sharing string
}

func newConversation() *conversation {
	l := bank.New(nil)
	p, _ := l.Account("provider")
	return &conversation{
		spec: hosts.Spec{CPUs: 2, Speed: 1, Cap: 1}, hosts: 1,
		sharing: "auction", policy: "be", bid: "cheapest", payment: "spot", forecast: "chebyshev", window: 300,
		ledger: l, provider: p,
	}
}

// coins are the next random numbers, in [0,1). Afterwards, coins returns the lowest number, so
// that the first of several hosts with equal prices is chosen.
type coins []float64

func (c *coins) Uint64() uint64 {
	if len(*c) == 0 {
		return 1 << 40
	}
	x := (*c)[0]
	*c = (*c)[1:]
	return uint64(x * (1 << 53))
}

// open makes the market.
func (c *conversation) open() error {
	if c.broker != nil {
		return nil
	}
	var fleet []hosts.Machine
	var owners []bank.Account
	for h := range c.hosts {
		spec := c.spec
		spec.Name = fmt.Sprintf("h%d", h)
		if h < len(c.cpus) {
			spec.CPUs = c.cpus[h]
		}
		if h < len(c.speeds) {
			spec.Speed = c.speeds[h]
		}
		owner, err := c.ledger.Account("host:" + spec.Name)
		if err != nil {
			return err
		}
		fleet, owners = append(fleet, sim.New(spec)), append(owners, owner)
	}
	chance := rand.New(new(coins))
	bid, err := bidding.Table(chance).New(c.bid, noOptions)
	if err != nil {
		return err
	}
	decode := func(v any) error { return config.Read("", []byte(c.options), v) }
	if c.options == "" {
		decode = noOptions
	}
	policy, err := policies.Table(bid, rand.New(&c.coins)).New(c.policy, decode)
	if err != nil {
		return err
	}
	rule, err := sharing.Table().New(c.sharing, noOptions)
	if err != nil {
		return err
	}
	payment, err := Payments().New(c.payment, nil)
	if err != nil {
		return err
	}
	forecast, err := forecast.Table().New(c.forecast, nil)
	if err != nil {
		return err
	}
	var churn *floor.Availability
	if c.here != nil {
		churn = &c.churn
		for h := range c.hosts {
			records := c.here[h]
			if records == nil {
				records = []availability.Record{{Start: 0, End: 1e9, State: availability.Available}}
			}
			past, err := availability.NewHistory(fmt.Sprint(h), 1, records, 0)
			if err != nil {
				return err
			}
			churn.Histories = append(churn.Histories, past)
		}
		p, err := predictors.Table().New("naive", nil)
		if churn.Predictor = (predictors.Completing{Predictor: p}); err != nil {
			return err
		}
	}
	c.broker = New(Config{
		Fleet: fleet, Owners: owners, Provider: c.provider, Policy: policy, Sharing: rule, Payment: payment,
		Window: c.window, Forecast: forecast, Teller: c.ledger, Ties: chance, Availability: churn,
	})
	return nil
}

func noOptions(any) error { return nil }

// obey executes a command and returns its answers.
func (c *conversation) obey(words []string) (answers []string, err error) {
	verb, words := words[0], words[1:]
	if verb == "at" || verb == "advance" || verb == "submit" || verb == "show" || verb == "close" || verb == "cancel" {
		if err := c.open(); err != nil {
			return nil, err
		}
	} else if c.broker != nil && verb != "user" && verb != "provider" {
		return nil, fmt.Errorf("the market is open")
	}
	switch verb {
	case "fleet":
		return nil, assign(words, map[string]func(float64){
			"hosts": func(x float64) { c.hosts = int(x) },
			"cpus":  into(&c.spec.CPUs), "cap": into(&c.spec.Cap), "speed": into(&c.spec.Speed),
			"memory": into(&c.spec.Room.Memory), "disk": into(&c.spec.Room.Disk), "bandwidth": into(&c.spec.Room.Bandwidth),
		})
	case "policy":
		c.policy, c.options = words[0], strings.Join(words[1:], " ")
	case "bidding":
		c.bid = words[0]
	case "payment":
		c.payment = words[0]
	case "sharing":
		c.sharing = words[0]
	case "leaving":
		c.churn.Charged = len(words) > 1 && words[1] == "charged"
		c.churn.Leaving, err = floor.Leavings().New(words[0], nil)
	case "here":
		err = c.stays(words)
	case "coins":
		var x []float64
		x, err = floats(words)
		c.coins = append(c.coins, x...)
	case "cpus":
		c.cpus, err = floats(words)
	case "speeds":
		c.speeds, err = floats(words)
	case "window":
		c.window, err = strconv.ParseFloat(words[0], 64)
	case "provider":
		err = c.mint("provider", words[0])
	case "user":
		err = c.mint("user:"+words[0], words[1])
	case "at", "advance":
		to, err := strconv.ParseFloat(words[0], 64)
		if verb == "advance" {
			to += c.now
		}
		if err != nil {
			return nil, err
		}
		return c.advance(to)
	case "submit":
		return c.submit(words)
	case "show":
		return c.show(words)
	case "cancel":
		id, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return nil, err
		}
		if err := c.broker.Cancel(c.now, contracts.ID(id)); err != nil {
			return []string{err.Error()}, nil
		}
		return c.advance(c.now)
	case "close":
		if err := c.broker.Close(c.now); err != nil {
			return nil, err
		}
		return c.advance(c.now)
	default:
		err = fmt.Errorf("no such command")
	}
	return nil, err
}

func floats(words []string) (all []float64, err error) {
	for _, w := range words {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// stays runs the command "here HOST FROM-TO...".
func (c *conversation) stays(words []string) error {
	h, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	if c.here == nil {
		c.here = make(map[int][]availability.Record)
	}
	for _, w := range words[1:] {
		r := availability.Record{State: availability.Available}
		if _, err := fmt.Sscanf(w, "%g-%g", &r.Start, &r.End); err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
		if n := len(c.here[h]); n > 0 {
			gone := availability.Record{Start: c.here[h][n-1].End, End: r.Start, State: availability.Unavailable}
			c.here[h] = append(c.here[h], gone)
		}
		c.here[h] = append(c.here[h], r)
	}
	return nil
}

func into(p *float64) func(float64) { return func(x float64) { *p = x } }

// assign reads words of the form name=number.
func assign(words []string, fields map[string]func(float64)) error {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		set, ok := fields[name]
		if !ok {
			return fmt.Errorf("no field %q", name)
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		set(x)
	}
	return nil
}

func (c *conversation) mint(name, amount string) error {
	to, err := c.ledger.Account(name)
	if err != nil {
		return err
	}
	a, err := bank.Parse(amount)
	if err != nil {
		return err
	}
	return c.ledger.Mint(c.now, to, a)
}

// advance advances time and returns the contracts that have ended.
func (c *conversation) advance(to float64) (answers []string, err error) {
	if err := c.broker.Advance(to); err != nil {
		return nil, err
	}
	c.now = to
	for _, k := range c.broker.Ended()[c.ended:] {
		a := fmt.Sprintf("at %v: %d %v, work %v of %v, paid %v", number(k.Ended), k.ID, k.Outcome.State(), number(k.ByDue), number(k.Total()), k.Paid)
		if k.Outcome.Violated() {
			a += fmt.Sprintf(", %v s late, penalty %v", number(k.Delay), k.Penalty)
		}
		if k.Losses > 0 {
			a += fmt.Sprintf(", lost %d times with work of %v", k.Losses, number(k.Wasted))
		}
		answers = append(answers, a)
	}
	for _, r := range c.broker.Refused()[c.refused:] {
		answers = append(answers, fmt.Sprintf("at %v: %d refused, %v", number(r.At), r.ID, r.Decision.Reason))
	}
	c.ended, c.refused = len(c.broker.Ended()), len(c.broker.Refused())
	return answers, nil
}
