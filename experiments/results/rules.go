package results

// Rules is the version of the rules by which a run charges and pays its contracts. The
// manifest of its results records it, and [bourse/experiments/verify.Rules] has it, so that
// an audit applies the rules under which the results were made. A ledger that is audited
// without results, such as that of a live market, is held only to what is true under every
// version. All changes of one release share one version. The versions are:
//
//  1. Releases before 0.3.0, whose manifests record none.
//  2. Release 0.3.0.
const Rules = 2
