package results

// Rules is the version of the rules by which a run charges and settles its contracts. The
// manifest of the results contains this version, and [bourse/experiments/verify.Rules]
// describes it. An audit can therefore apply the rules under which the results were made. Some
// ledgers are audited without results, for example the ledger of a live market. The audit then
// checks only rules that are the same in every version. All rule changes of one release share
// one version. The versions are:
//
//  1. Releases before 0.3.0, whose manifests do not record a version. A charge that accrues
//     is rounded half to even on each node, and nodes are paid in the order of placement
//     while the budget lasts. If nodes share a price, the first nodes receive the
//     micro-dollars that cannot be divided equally. A penalty is the product of float64s,
//     rounded toward zero.
//  2. Release 0.3.0. The charges accrued on all nodes are added and rounded once, half to
//     even, and limited to the budget. Charges and prices are distributed over the hosts by
//     the method of the largest remainder, in proportion to the amounts owed or to the
//     numbers of nodes. A penalty is the exact product of rate and delay as decimals. A
//     delay is rounded to the decimal places to which its times are known; an error of half
//     a unit of the last place counts in the user's favor. The hosts of the contract pay a
//     penalty first, from their earnings on the contract and in proportion to them; the
//     provider pays the rest. In version 1 the provider pays the whole penalty. Under
//     auction sharing, a contract that has spent its budget has no weight from then on. In
//     version 1 it kept its share.
const Rules = 2
