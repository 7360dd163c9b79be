package results

// Rules is the version of the rules by which a run charges and settles its contracts. The
// manifest of the results contains this version, and [bourse/experiments/verify.Rules]
// describes it. An audit can therefore apply the rules under which the results were made.
// Some ledgers are audited without results, for example that of a live market. The audit
// then checks only rules that are the same in every version. All rule changes of one
// release share one version. The versions are:
//
//  1. Releases before 0.3.0, whose manifests do not record a version. A charge that accrues
//     is rounded half to even on each node, and nodes are paid in the order of placement
//     while the budget lasts. Of a price that nodes share, the micro-dollars that do not
//     divide go to the first nodes. A penalty is the product of float64s, rounded toward
//     zero.
//  2. Release 0.3.0. The charges accrued on all nodes are added and rounded once, half to
//     even, and cut off at the budget. Charges and prices are distributed over the hosts in
//     proportion to what each is owed, or to its nodes, by the method of the largest
//     remainder. A penalty is the exact product of the decimals that rate and delay are
//     written as, and a delay is rounded to the decimal places in which its instants are
//     known; half a unit of the last of them is not held against the user. The hosts of the
//     contract pay a penalty first, out of what they earned on it and in proportion to
//     that; the provider pays the rest. In version 1 the provider pays all of it. Under
//     auction sharing a contract that has spent its budget has no weight from that moment
//     on; in version 1 it kept its share.
const Rules = 2
