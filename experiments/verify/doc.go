// Package verify holds results and ledgers against each other: it reads again, from what
// was published alone, how every contract must have fared. It shares no code with the
// market that ran them: two readings of one rule that must agree.
//
// [Follow] goes through a ledger with bank/audit, which proves entries and money. What
// notes say of a contract must be possible. Given what a run published beside its
// ledger, a [Run], every entry is held against its row of the table of jobs. Where hosts
// are shared by auction, by turns or a processor each, the notes of admissions say who
// bid how much on which host, and the market is run again from them: every charge (share,
// price and time), the work done, when a contract ends, the verdict, the penalty, and the
// table of prices. Where a contract pays its budget or an agreed price as a whole,
// charges and penalties are computed from deadline and verdict, also where hosts come and
// go; what is charged for one taken back is held against its price. Metered charges under
// sharing rules that go by estimates, or where hosts come and go, cannot be computed: the
// ledger says neither. Of those, and from an admission on whose note does not name its
// hosts, the report says so; nothing is guessed. Whether a request
// should have been admitted is not computed: the reason is held against its row.
//
// An entry takes time that does not depend on how many came before, but for the logarithm
// of how many tasks share a host; memory goes with the contracts that are open, and with
// the rows of tables, which are read first.
//
// It does not know how a run went otherwise, nor how entries are stored.
package verify
