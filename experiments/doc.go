// Package experiments runs scenarios many times over and measures what came of
// them.
//
// A configuration is one setting of everything but the admission policy. A
// replication is one workload, on which every policy of the configuration is
// run. It knows how to assemble, repeat and collect; it knows the formulas of
// no policy.
//
// # Ways through the house
//
// Who knows four ways knows the house. A job, from its plan to its payment:
//
//	experiments/arena.go                arrivals.Advance    its request is what its user says, its task what is true
//	contracts/broker/broker.go          Broker.Submit       the policy is told
//	contracts/admission/ask.go          Immediate           and decides, by its own file: BestEffort.Decide of be.go
//	contracts/broker/act.go             Broker.do           what it wants is done
//	bank/escrow.go                      Ledger.Hold         the budget is set aside
//	contracts/floor/floor.go            Floor.Place         bids are placed, tasks start, hosts are shared out
//	contracts/floor/end.go              Floor.complete      a task is done, or Floor.end: a run is, or its time is up
//	contracts/broker/end.go             Broker.end          the contract ends
//	contracts/settlement/settlement.go  Case.Bill           it is judged and billed
//	bank/escrow.go                      Ledger.Settle       hosts are paid, the rest goes back
//
// A ledger entry, from a posting to its audit:
//
//	bank/ledger.go                      Ledger.commit       it is in order, and booked
//	bank/store/journal.go               Journal.Append      the next of a group
//	bank/store/encode.go                appendEntry         its bytes
//	bank/store/tree.go                  tree.add            its place in the Merkle tree
//	bank/store/journal.go               Journal.write       the group is durable, then the balances
//	bank/audit/read.go                  auditor.readPebble  read by nothing that wrote it
//	bank/audit/audit.go                 auditor.entry       in order, hashes right, money conserved
//	experiments/verify/follow.go        follower.Entry      what it says of a contract is computed again
//	bank/audit/report.go                auditor.report      what was found
//
// A scenario file, from its text to a figure:
//
//	cmd/bourse/run.go                   runAction           flags and files
//	experiments/scenario/parse.go       Parse               checked, with line and field of what is wrong
//	experiments/prepare.go              Prepare             logs are read, policies made: mistakes show before anything runs
//	experiments/run.go                  arena.each          a replication: one workload, every policy
//	experiments/workload.go             arena.draw          the workload, by its model, plan or log
//	experiments/arena.go                arena.run           one policy, in its own market, until all has ended
//	experiments/metrics/metrics.go      All                 numbers of it
//	experiments/study.go                Study.add           over replications: means and intervals
//	experiments/results/writer.go       Writer.Close        tables and their manifest
//	experiments/publish.go              Study.pictures      figures
//
// A line of a log of jobs, from its file to the market:
//
//	workloadgen/swf/reader.go           Reader.Next         18 fields, repaired or refused by rule
//	workloadgen/swf/filter.go           Trace.Apply         of the jobs that are wanted
//	experiments/workload.go             recordings.log      once an experiment
//	workloadgen/swf/plan.go             Trace.Plan          a job of a plan
//	workloadgen/annotate/annotate.go    Options.Apply       with deadline, estimate and value
//	experiments/setting.go              setting.request     what a policy will see of it
//
// # Words
//
//	plan         the jobs of a replication, in order of arrival
//	request      what a user asks for, before it is decided; a contract afterwards
//	run          the work of a contract, on the floor; or one policy in one replication
//	allocation   one node of a run on a host
//	floor        the hosts, their auctions, and what runs where
//	spot price   the sum of the bids on a host
//	teller       the part of the bank that a broker needs
//	head         size and root of a ledger: who keeps one can prove what came before
//	entry        what a ledger is made of; a group of them is durable at once
//	preset       a scenario that comes with the program, such as a figure of a paper
//
// Equations of the papers, and where they are, are listed in experiments/papers.
package experiments
