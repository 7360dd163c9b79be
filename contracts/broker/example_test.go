package broker_test

import (
	"fmt"
	"math/rand/v2"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market/forecast"
)

func none(any) error { return nil } // no options

// The example admits, runs and settles a request in a market with one host.
func Example() {
	ledger := bank.New(nil)
	ann, _ := ledger.Account("user:ann")
	owner, _ := ledger.Account("host:h0")
	provider, _ := ledger.Account("provider")
	ten, _ := bank.Parse("10")
	ledger.Mint(0, ann, ten)

	chance := rand.New(rand.NewPCG(1, 1))
	bid, _ := bidding.Table(chance).New("cheapest", none)
	policy, _ := policies.Table(bid, chance).New("be", none)
	rule, _ := sharing.Table().New("auction", none)
	payment, _ := broker.Payments().New("usage", nil)
	forecast, _ := forecast.Table().New("chebyshev", nil)
	b := broker.New(broker.Config{
		Fleet:  []hosts.Machine{sim.New(hosts.Spec{Name: "h0", CPUs: 2, Speed: 1, Cap: 1})},
		Owners: []bank.Account{owner}, Provider: provider, Teller: ledger,
		Policy: policy, Sharing: rule, Payment: payment, Forecast: forecast, Window: 300, Ties: chance,
	})

	request := contracts.Request{ID: 1, Owner: ann, Nodes: 1, Work: 60}
	request.SLA.Budget, request.SLA.Deadline = ten, 100 // $0.1/s
	decision, _ := b.Submit(0, &request, hosts.Task{Work: 60})
	fmt.Println(decision.Verdict, "on", decision.Placements[0].Bid, "$/s")

	b.Advance(100)
	end := b.Ended()[0]
	fmt.Println(end.Outcome, "at", end.Ended, "for", end.Paid)
	// Output:
	// accept on 0.1 $/s
	// fulfilled at 60 for 3.000000
}
