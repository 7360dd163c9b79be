// Package experiments runs scenarios in many replications and measures their outcomes.
//
// A configuration is one setting of everything except the admission policy. A replication is
// one workload, on which every policy of the configuration is run. The package assembles runs,
// repeats them and collects their results. It contains no formulas of policies.
//
// # Paths through the code
//
// Most of the code is on one of the following four paths. The path of a job, from the plan to
// its payment:
//
//	experiments/workspace.go            arrivals.Advance    makes the user's request and the actual task
//	contracts/broker/broker.go          Broker.Submit       passes the request to the policy
//	contracts/admission/ask.go          Immediate           decides, for example by BestEffort.Decide in be.go
//	contracts/broker/act.go             Broker.do           carries out the policy's decision
//	bank/escrow.go                      Ledger.Hold         holds the budget
//	contracts/floor/floor.go            Floor.Place         places bids, starts tasks, allocates shares of hosts
//	contracts/floor/end.go              Floor.complete      completes a task; Floor.end ends a run
//	contracts/broker/end.go             Broker.end          ends the contract
//	contracts/settlement/settlement.go  Case.Bill           determines the outcome and the bill
//	bank/escrow.go                      Ledger.Settle       pays the hosts and returns the rest
//
// The path of a ledger entry, from the posting to the audit:
//
//	bank/ledger.go                      Ledger.commit       checks and books the entry
//	bank/store/journal.go               Journal.Append      adds it to a group
//	bank/store/encode.go                appendEntry         encodes it
//	bank/store/tree.go                  tree.add            adds it to the Merkle tree
//	bank/store/journal.go               Journal.write       writes the group, then the balances
//	bank/audit/read.go                  auditor.readPebble  reads it with code independent of the writer
//	bank/audit/audit.go                 auditor.entry       checks order, hashes and conservation of money
//	experiments/verify/follow.go        follower.Entry      recomputes what it states about a contract
//	bank/audit/report.go                auditor.report      reports the findings
//
// The path of a scenario file, from its text to a figure:
//
//	cmd/bourse/run.go                   runAction           reads flags and files
//	experiments/scenario/parse.go       Parse               checks the text; errors name line and field
//	experiments/prepare.go              Prepare             reads logs and creates policies, before anything runs
//	experiments/run.go                  workspace.each      runs a replication: one workload, every policy
//	experiments/workload.go             workspace.draw      draws the workload from its model, plan or log
//	experiments/workspace.go            workspace.run       runs one policy in its own market to the end
//	experiments/metrics/metrics.go      All                 measures the run
//	experiments/study.go                Study.Add           collects replications for means and intervals
//	experiments/results/writer.go       Writer.Close        writes tables and their manifest
//	experiments/publication/publish.go  Report.pictures     draws the figures
//
// The path of a line of a job log, from the file to the market:
//
//	workloadgen/swf/reader.go           reader.take         parses 18 fields and repairs or rejects them
//	workloadgen/swf/filter.go           Trace.Apply         applies the filters
//	experiments/workload.go             recordings.log      reads a log once per experiment
//	workloadgen/swf/plan.go             Trace.Plan          converts it to a job of a plan
//	workloadgen/annotate/annotate.go    Options.Apply       adds deadline, estimate and value
//	experiments/setting.go              setting.request     makes the request that a policy sees
//
// # Terms
//
//	plan         the jobs of a replication, in order of arrival
//	request      what a user asks for; after admission, a contract
//	run          the work of a contract on the floor; or one policy in one replication
//	allocation   one node of a run on a host
//	floor        the hosts, their auctions, and the placement of tasks
//	spot price   the sum of the bids on a host
//	teller       the part of the bank that a broker needs
//	head         size and root hash of a ledger; a stored head proves the history before it
//	entry        a record of a ledger; entries become durable in groups
//	preset       a scenario included in the program, such as a figure of a paper
//
// Package experiments/papers lists the equations of the papers and where they are implemented.
package experiments
