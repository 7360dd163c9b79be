package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/policies"
	"bourse/experiments/verify"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A bookedMarket is a real market that sells the processors of a host for intervals.
type bookedMarket struct {
	options policytest.Options
	rules   verify.Booked
	cpus    float64
	trades  []policytest.Trade
}

// bookedMarkets returns the markets of TestBookedFaults. Under windows, earlier jobs raise the
// price of job 4, the price of job 5 exceeds its budget, and no interval is free for job 6.
// Under both rules of bundle, jobs 2 and 3 compete for a processor at the clearing at 100 s,
// and job 4 waits. At 200 s, job 3 is too late.
func bookedMarkets() map[string]bookedMarket {
	bundle := func(rule string) bookedMarket {
		return bookedMarket{
			policytest.Options{"every": 100.0, "rule": rule},
			verify.Booked{Sold: verify.Sold{Policy: "bundle", Every: 100, Losers: "wait"}, Rule: rule, Exact: 24, Norm: 0.5, Hard: true}, 2,
			[]policytest.Trade{
				{ID: 1, Submit: 0, Nodes: 1, Runtime: 150, Deadline: 5000, Budget: 4e6},
				{ID: 2, Submit: 10, Nodes: 1, Runtime: 50, Deadline: 5000, Budget: 3e6},
				{ID: 3, Submit: 20, Nodes: 1, Runtime: 50, Deadline: 200, Budget: 2e6},
				{ID: 4, Submit: 110, Nodes: 1, Runtime: 30, Deadline: 500, Budget: 1e6},
				{ID: 5, Submit: 120, Nodes: 3, Runtime: 30, Deadline: 500, Budget: 1e6},
			},
		}
	}
	return map[string]bookedMarket{
		"windows": {
			policytest.Options{"width": 100.0, "shape": "power", "low": 0.001, "high": 0.01, "ahead": 3},
			verify.Booked{Sold: verify.Sold{Policy: "windows", Shape: "power", Low: 0.001, High: 0.01, Power: 1}, Width: 100, Ahead: 3, CancelFee: 0.1}, 2,
			[]policytest.Trade{
				{ID: 1, Submit: 0, Nodes: 1, Estimate: 80, Runtime: 60, Deadline: 90, Budget: 10e6},
				{ID: 2, Submit: 10, Nodes: 2, Runtime: 150, Deadline: 280, Budget: 10e6},
				{ID: 3, Submit: 20, Nodes: 1, Estimate: 20, Runtime: 40, Deadline: 100, Budget: 10e6},
				{ID: 4, Submit: 70, Nodes: 1, Runtime: 20, Deadline: 400, Budget: 10e6},
				{ID: 5, Submit: 80, Nodes: 1, Runtime: 30, Deadline: 400, Budget: 1000},
				{ID: 6, Submit: 90, Nodes: 2, Runtime: 200, Deadline: 250, Budget: 10e6},
			},
		},
		"vcg":    bundle("vcg"),
		"greedy": bundle("greedy"),
	}
}

// TestBookedFaults plants faults in the ledgers of markets that sell intervals. An audit must find
// each fault and name its entry. It must find nothing in a ledger without a fault.
func TestBookedFaults(t *testing.T) {
	t.Parallel()
	// changes returns a fault that replaces a text in the first entry of a kind. For rejections and
	// terms, the entry belongs to the given contract.
	changes := func(kind bank.Kind, id int64, old, with string) func(e *bank.Entry) (bool, bool) {
		return func(e *bank.Entry) (faulty, dropped bool) {
			if e.Kind != kind || id > 0 && e.Contract != id || !strings.Contains(string(e.Note), old) {
				return false, false
			}
			e.Note = []byte(strings.Replace(string(e.Note), old, with, 1))
			return true, false
		}
	}
	// adds returns a fault that adds to a number in the entry of a contract.
	adds := func(kind bank.Kind, id int64, field string, x float64) func(e *bank.Entry) (bool, bool) {
		return func(e *bank.Entry) (faulty, dropped bool) {
			_, rest, ok := strings.Cut(string(e.Note), `"`+field+`":`)
			if e.Kind != kind || id > 0 && e.Contract != id || !ok {
				return false, false
			}
			number := rest[:strings.IndexAny(rest, ",}")]
			var was float64
			fmt.Sscan(number, &was)
			return changes(kind, id, `"`+field+`":`+number, `"`+field+`":`+fmt.Sprint(was+x))(e)
		}
	}
	drops := func(kind bank.Kind, id int64) func(e *bank.Entry) (bool, bool) {
		return func(e *bank.Entry) (faulty, dropped bool) {
			is := e.Kind == kind && (id == 0 || e.Contract == id)
			return is, is
		}
	}
	none := func(*bank.Entry) (bool, bool) { return false, false }
	cancelled := func(e *bank.Entry) (faulty, dropped bool) { // the owner cancels and pays the whole price
		return changes(bank.Settle, 1, `"state":"fulfilled"`, `"state":"cancelled"`)(e)
	}
	type faults = map[string]func(e *bank.Entry) (faulty, dropped bool)
	auction := faults{
		"none":                   none,
		"a payment too high":     adds(bank.Admit, 2, "ask", 1e-6),
		"a payment too low":      adds(bank.Admit, 1, "ask", -1e-6),
		"a later start":          adds(bank.Admit, 2, "start", 1),
		"a unit more sold":       adds(bank.Cleared, 0, "units", 1),
		"a bid not counted":      adds(bank.Cleared, 0, "bids", -1),
		"units not offered":      adds(bank.Cleared, 0, "offered", -1),
		"a clearing replaced":    adds(bank.Cleared, 0, "approximate", 1),
		"a clearing missing":     drops(bank.Cleared, 0),
		"a winner not served":    drops(bank.Admit, 2),
		"outbid without a bid":   changes(bank.Reject, 5, "too few nodes", "outbid"),
		"a job that is too wide": changes(bank.Reject, 5, "too few nodes", "cannot end by its deadline"),
		"late, but outbid first": changes(bank.Reject, 3, "outbid", "cannot end by its deadline"),
		"a loser served": func(e *bank.Entry) (faulty, dropped bool) { // a loser is served instead of a winner
			if e.Kind != bank.Admit || e.Contract != 2 {
				return false, false
			}
			e.Contract = 3
			return true, false
		},
	}
	all := map[string]faults{
		"windows": {
			"none":                             none,
			"a price too high":                 adds(bank.Admit, 4, "ask", 1e-6),
			"a price too low":                  adds(bank.Admit, 2, "ask", -1e-6),
			"a later start at the same price":  adds(bank.Admit, 1, "start", 10),
			"a start that is no candidate":     adds(bank.Admit, 4, "start", 0.5),
			"an earlier start without room":    adds(bank.Admit, 2, "start", -80),
			"a wrong price in a refusal":       adds(bank.Reject, 5, "ask", 1e-6),
			"a refusal although there is room": changes(bank.Reject, 5, "price above budget", "no room in any window"),
			"a wrong reason for a refusal":     changes(bank.Reject, 6, "no room in any window", "cannot end by its deadline"),
			"a job that is not too wide":       changes(bank.Reject, 6, "no room in any window", "too few nodes"),
			"nodes not sold":                   adds(bank.Admit, 2, "nodes", -1),
			"a wrong charge for cancelling":    cancelled,
			"an end after the interval": func(e *bank.Entry) (faulty, dropped bool) {
				if e.Kind != bank.Settle || e.Contract != 3 {
					return false, false
				}
				e.Time += 1
				return true, false
			},
		},
		"vcg": auction, "greedy": auction,
	}
	for name, market := range bookedMarkets() {
		for what, fault := range all[name] {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				p, err := policies.Of(market.rules.Policy).New(market.options.Decode, nil, nil)
				check(t, err)
				m := policytest.Deal(t, 1, market.cpus, p, "planned", "budget", market.trades)
				fs, at := planted(t, m, fault)
				r := runAudit(t, fs, dealt(t, m, market.trades, verify.Rules{
					Version: 2, Payment: "budget", Sharing: "planned", Hosts: 1, CPUs: market.cpus, Cap: 1, Speeds: []float64{1}, Booked: &market.rules,
				}))
				if what == "none" {
					if !r.Clean() || slices.ContainsFunc(r.Beyond, func(s string) bool { return strings.Contains(s, "clearings") || strings.Contains(s, "refusals") }) {
						t.Fatalf("%v, not computed %v", r.Findings, r.Beyond)
					}
					return
				}
				if at == 0 || r.Clean() || r.Findings[0].Seq != at {
					t.Errorf("entry %d is at fault, found %v", at, r.Findings)
				}
			})
		}
	}
}

// planted stores the ledger of m with a fault in it, and returns the number of the faulty
// entry. The function fault may change the entry that it receives. It reports whether it has
// planted the fault, and whether the entry is removed.
func planted(t *testing.T, m *policytest.Market, fault func(e *bank.Entry) (faulty, dropped bool)) (fs vfs.FS, at int64) {
	t.Helper()
	fs = vfs.NewMem()
	j, err := store.Create("ledger", store.Options{FS: fs, Reproducible: true})
	check(t, err)
	shift := int64(0)
	for i := range m.Entries {
		e := m.Entries[i]
		e.Seq -= shift
		e.Moves = slices.Clone(e.Moves)
		faulty, dropped := false, false
		if at == 0 {
			if faulty, dropped = fault(&e); faulty {
				at = e.Seq
			}
		}
		if dropped {
			shift++
			continue
		}
		check(t, j.Append(&e))
	}
	check(t, j.Close())
	return fs, at
}
