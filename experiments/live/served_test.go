package live

import (
	"math"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote/remotetest"
)

// promising is the file of a market that promises a penalty to one class.
const promising = file + `
promises: {cac: {penalty: 1, most: 0.5}}
`

// TestCauses checks the cause of each broken promise. The cause depends on the processor time
// to which the program was entitled, and on the time that it requested and received. A penalty
// is paid only if a host or the market is the cause. A replay of the log must give the same
// decisions.
func TestCauses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, class string
		others      int // number of other contracts with the same bid on the host
		uses, waits float64
		exits       float64 // work after which the program ends; 0 means never
		fails       bool
		leaves      float64 // seconds after which its host is silent; 0 means never
		cause       string
		state       string
		penalty     float64
		served      [3]float64
	}{
		{name: "burns", class: "cac", uses: 1, state: "fulfilled", served: [3]float64{40, 39, 39}},
		{name: "starved", class: "cac", uses: 0.5, waits: 0.5, cause: "host", state: "violated", penalty: 0.035, served: [3]float64{40, 39, 19.5}},
		{name: "starved much", class: "cac", uses: 0.1, waits: 2, cause: "host", state: "violated", penalty: 0.05, served: [3]float64{40, 40, 3.9}},
		{name: "starved under be", class: "be", uses: 0.5, waits: 0.5, cause: "host", state: "violated", served: [3]float64{40, 39, 19.5}},
		{name: "sleeps", class: "cac", uses: 0, cause: "asked", state: "violated", served: [3]float64{40, 0, 0}},
		{name: "sleeps and is starved a little", class: "cac", uses: 0.2, waits: 0.2, cause: "asked", state: "violated", served: [3]float64{40, 15.6, 7.8}},
		{name: "fails", class: "cac", uses: 1, exits: 5, fails: true, cause: "program", state: "violated", served: [3]float64{6, 5, 5}},
		{name: "fails, starved", class: "cac", uses: 0.5, waits: 0.5, exits: 5, fails: true, cause: "program", state: "violated", served: [3]float64{6, 5, 2.5}},
		{name: "exits early", class: "cac", uses: 1, exits: 5, state: "fulfilled", served: [3]float64{6, 5, 5}},
		{name: "outbid", class: "be", others: 1, uses: 1, cause: "price", state: "violated", served: [3]float64{20, 19.5, 19.5}},
		{name: "host lost", class: "cac", uses: 1, leaves: 4, cause: "host", state: "violated", penalty: 0.05, served: [3]float64{4, 3, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t, promising, 1)
			for i := range 12 { // an audit needs the entries of a day
				if _, err := w.bank.Do(t.Context(), ownerstest.Transfer(string(rune('a'+i)), "user:2", "market:lab", 10000)); err != nil {
					t.Fatal(err)
				}
			}
			first := ownerstest.Contract(1)
			a := w.agents[0]
			a.Serves = func(contract int64) (float64, float64) {
				if contract != first {
					return 1, 0
				}
				return c.uses, c.waits
			}
			if c.exits > 0 {
				a.Exits = func(int64) float64 { return c.exits }
			}
			a.Fails = func(int64) bool { return c.fails }
			s := w.order("one", "user:0", c.class, 1, 30, 40, 0.1)
			if r := w.turn(message{Submit: &s}); r[0].answer.Verdict != "accept" {
				t.Fatalf("%+v", r[0].answer)
			}
			for i := range c.others {
				s := w.order("other"+string(rune('0'+i)), "user:1", "be", 1, 30, 400, 1)
				w.turn(message{Submit: &s})
			}
			for n := range 60 {
				if c.leaves > 0 && float64(n) >= c.leaves {
					w.now++
					w.turn()
					if n == int(c.leaves)+30 {
						w.turn(message{Gone: "h00"})
					}
					continue
				}
				w.pass(1)
				if n == 2 {
					w.crash()
				}
			}
			is := must(w.market.Status(first))
			if is.State != c.state || is.Served == nil || is.Served.Cause != c.cause {
				t.Fatalf("%s, %+v, want %s by %q", is.State, is.Served, c.state, c.cause)
			}
			if want := must(bank.Dollars(c.penalty)); is.Penalty != want {
				t.Errorf("a penalty of %v, want %v", is.Penalty, want)
			}
			got := [3]float64{is.Served.Entitled, is.Served.Asked, is.Served.Received}
			for i := range got {
				if math.Abs(got[i]-c.served[i]) > 0.02*c.served[i]+0.01 {
					t.Errorf("entitled, asked and received %.3v, want %v", got, c.served)
				}
			}
			if owner := is.Served.Owner; (owner == "host:h00") != (c.cause == "host") {
				t.Errorf("of %q", owner)
			}
			if b := w.market.Gauges().Broken; c.state == "violated" && b[c.cause] != 1 {
				t.Errorf("%v", b)
			}
			if last := w.entries(); c.penalty > 0 && !strings.Contains(strings.Join(last, "\n"), `{"cause":"host","owner":"host:h00","owed":"`) {
				t.Errorf("%s", last[len(last)-1])
			}
			w.check(2)
		})
	}
}

// TestFloorPrice checks that a contract alone on its host pays the floor price of its
// usage, that a lower bid is rejected, and that a quoted budget is accepted.
func TestFloorPrice(t *testing.T) {
	t.Parallel()
	w := newTown(t, file+"\nfloor_per_hour: {cpu: 0.36}\n", 1)
	s, low := w.order("one", "user:0", "be", 1, 30, 40, 0.1), w.order("low", "user:0", "be", 1, 30, 40, 0.0039)
	first := w.turn(message{Submit: &s})[0].answer
	w.pass(45)
	if c := must(w.market.Status(first.Contract)); c.Paid.String() != "0.003900" || c.Served.Received != 39 {
		t.Errorf("%+v, %v", c, c.Served)
	}
	if a := w.turn(message{Submit: &low})[0].answer; a.Verdict != "reject" || a.Reason != "below the floor" {
		t.Errorf("%+v", a)
	}
	terms := order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 30, Deadline: 40}
	if least, _, ok, err := w.market.Quote(t.Context(), terms); err != nil || !ok || least.String() != "0.004000" {
		t.Errorf("%v, %v, %v", least, ok, err)
	}
	for i := range 9 { // an audit needs the entries of a day
		s := w.order(string(rune('a'+i)), "user:1", "be", 1, 1, 5, 0.01)
		w.turn(message{Submit: &s})
		w.pass(8)
	}
	w.crash()
	w.check(10)
}

// TestPayers checks who pays the penalty if a host did not deliver. First, the penalty is
// withheld from the charges of the host's owner. The market pays the rest as far as it has
// money. The terms and the verdict in the ledger must state this, and repeating the log
// must give the same result, even after a crash.
func TestPayers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		floor     string // price of a processor in $ per hour
		market    int64  // micro-dollars in the account
		paid      string // paid to the host's owner
		penalty   string
		withheld  string
		short     string
		byAccount string // paid by the market
	}{
		{"free", "0", 9e5, "0.000000", "0.035000", "", "", "0.035000"},
		{"cheap", "0.36", 9e5, "0.000000", "0.035000", "0.001950", "", "0.033050"},
		{"dear", "3.6", 9e5, "0.000000", "0.035000", "0.019500", "", "0.015500"},
		{"dearer", "8", 9e5, "0.008333", "0.035000", "0.035000", "", ""},
		{"poor", "0.36", 10000, "0.000000", "0.011950", "0.001950", "0.023050", "0.010000"},
		{"poorest", "0.36", 0, "0.000000", "0.001950", "0.001950", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t, promising+"floor_per_hour: {cpu: "+c.floor+"}\n", 1)
			for i := range 12 { // an audit needs the entries of a day
				to, amount := "user:1", int64(1)
				if i == 0 && c.market > 0 {
					to, amount = "market:lab", c.market
				}
				if _, err := w.bank.Do(t.Context(), ownerstest.Transfer(string(rune('a'+i)), "user:2", to, amount)); err != nil {
					t.Fatal(err)
				}
			}
			first := ownerstest.Contract(1)
			w.agents[0].Serves = func(int64) (float64, float64) { return 0.5, 0.5 }
			s := w.order("one", "user:0", "cac", 1, 30, 40, 0.1)
			if r := w.turn(message{Submit: &s}); r[0].answer.Verdict != "accept" {
				t.Fatalf("%+v", r[0].answer)
			}
			for n := range 60 {
				if w.pass(1); n == 20 {
					w.crash()
				}
			}
			w.crash()
			is := must(w.market.Status(first))
			if is.Served.Cause != "host" || is.Paid.String() != c.paid || is.Penalty.String() != c.penalty {
				t.Errorf("by %s, paid %v and a penalty of %v; want by host, %s and %s", is.Served.Cause, is.Paid, is.Penalty, c.paid, c.penalty)
			}
			ledger := strings.Join(w.entries(), "\n")
			for _, want := range []string{
				`"penalty_part":1,"penalty_most":0.5`, `"cause":"host","payer":"host:h00","penalty_owed":"0.035000"`,
				part(`"withheld":"%s"`, c.withheld), part(`"penalty_short":"%s"`, c.short), part(`market:lab user:0 %s`, c.byAccount),
			} {
				if !strings.Contains(ledger, want) {
					t.Errorf("the ledger has no %s:\n%s", want, ledger)
				}
			}
			w.check(2)
		})
	}
}

// TestOwnHost checks that a host's owner cannot get money from the market by contracts that its
// own host fails: the market pays nothing beyond what is withheld from the owner's charges,
// also if a project pays for the contract or if the owner outbids the contract with bids that
// it pays to itself. For the same faults on another's host, the market pays.
func TestOwnHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, project, floor string
		outbids              bool
		cause, penalty       string // penalty on another's host
	}{
		{"fails", "", "0", false, "host", "0.035000"},
		{"fails, and is paid", "", "0.36", false, "host", "0.035000"},
		{"fails a project", "film", "0.36", false, "host", "0.035000"},
		{"outbids itself", "", "0", true, "market", "0.050000"},
	} {
		for _, owner := range []string{"host:h00", "user:0"} {
			t.Run(c.name+" "+owner, func(t *testing.T) {
				t.Parallel()
				w := newTown(t, promising+"floor_per_hour: {cpu: "+c.floor+"}\n", 0)
				right := func(id string, fields ...string) {
					must(w.bank.Do(t.Context(), ownerstest.Says("operator", "right", id, "operator", fields...)))
				}
				right("payee", "of", owner, "right", "payee", "market", "lab")
				right("spend", "of", "project:film", "right", "spend", "for", "user:0", "most", "0.900000", "refunds", "credited")
				must(w.bank.Do(t.Context(), ownerstest.Transfer("fund", "user:1", "project:film", 200_000)))
				for i := range 12 { // an audit needs the entries of a day
					must(w.bank.Do(t.Context(), ownerstest.Transfer(string(rune('a'+i)), "user:2", "market:lab", 70_000)))
				}
				spec := hosts.Spec{Name: "h00", CPUs: 1, Speed: 1}
				if r := w.turn(message{Join: &join{Spec: spec, Owner: owner}}); r[0].err != nil {
					t.Fatal(r[0].err)
				}
				w.names, w.agents = []string{"h00"}, []*remotetest.Agent{remotetest.New(spec)}
				has := func() (sum bank.Amount) {
					for _, account := range []string{"user:0", "project:film"} {
						sum = must(sum.Add(must(w.bank.Balance(t.Context(), account))))
					}
					return sum
				}
				before, market := has(), must(w.bank.Balance(t.Context(), "market:lab"))
				if !c.outbids {
					w.agents[0].Serves = func(int64) (float64, float64) { return 0.5, 0.5 }
				}
				s := w.sign("one", "user:0", 9000, &order.Terms{Class: "cac", Nodes: 1, CPUs: 1, Work: 30, Deadline: 40, Budget: must(bank.Dollars(0.1)), Project: c.project}, jobText)
				if r := w.turn(message{Submit: &s}); r[0].answer.Verdict != "accept" {
					t.Fatalf("%+v", r[0].answer)
				}
				for n := range 60 {
					if w.pass(1); n == 2 && c.outbids {
						s := w.order("other", "user:0", "be", 1, 30, 40, 0.4)
						w.turn(message{Submit: &s})
					}
					if n == 20 {
						w.crash()
					}
				}
				is, paid := must(w.market.Status(ownerstest.Contract(1))), must(market.Sub(must(w.bank.Balance(t.Context(), "market:lab"))))
				if is.State != "violated" || is.Served.Cause != c.cause {
					t.Fatalf("%s by %s, want violated by %s", is.State, is.Served.Cause, c.cause)
				}
				if own := owner == "user:0"; own && (has() != before || paid.Sign() != 0 || is.Penalty != is.Withheld) {
					t.Errorf("%v, and before %v; the market paid %v; a penalty of %v, of which %v are withheld", has(), before, paid, is.Penalty, is.Withheld)
				} else if !own && (is.Penalty.String() != c.penalty || paid != must(is.Penalty.Sub(is.Withheld)) || paid.Sign() == 0) {
					t.Errorf("a penalty of %v, of which the market paid %v and %v are withheld, want %s", is.Penalty, paid, is.Withheld, c.penalty)
				}
				w.check(2)
			})
		}
	}
}

// part returns a text with a value in it, or an empty string without a value.
func part(text, value string) string {
	if value == "" {
		return ""
	}
	return strings.ReplaceAll(text, "%s", value)
}
