package results

// Rules is the version of the rules by which a run charges and pays its contracts. The
// manifest of its results records it, and [bourse/experiments/verify.Rules] contains it, so
// that an audit applies the rules under which the results were made. A ledger that is audited
// without results, such as that of a live market, is checked only against what holds under
// every version. All changes of one release share one version. The versions are:
//
//  1. Releases before 0.3.0, whose manifests record none.
//     A charge that accrues is rounded half to even on each node, and nodes are paid in the
//     order of placement while the budget lasts. Of a price that nodes share, the
//     micro-dollars that do not divide go to the first nodes. A penalty is the product of
//     float64s, rounded toward zero.
//  2. Release 0.3.0. The sum of what accrues on all nodes is rounded once, half to even, and
//     cut off at the budget. Charges and prices are distributed over the hosts in proportion
//     to what each is owed, or to its nodes, by the method of the largest remainder. A
//     penalty is the exact product of the decimals that rate and delay are written as, and a
//     delay is rounded to the decimal places in which its instants are known; half a unit of
//     the last of them is not held against the user. The hosts of
//     the contract pay a penalty first, out of what they earned on it and in proportion to
//     that; the provider pays the rest. In version 1 the provider pays all of it.
//     Under auction sharing a contract that has spent its budget has no weight from that
//     moment on; in version 1 it kept its share.
const Rules = 2
