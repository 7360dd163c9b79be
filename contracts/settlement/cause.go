package settlement

import "bourse/bank"

// These are the causes that [CauseOf] returns.
const (
	kept      = ""
	byProgram = "program"
	byHost    = "host"
	byPrice   = "price"
	byMarket  = "market"
	byAsked   = "asked"
)

// Served is the service that one node received: its entitlement and its usage, in
// processor-seconds, and the seconds for which it was ready to run but waited.
type Served struct {
	Entitled, Used, Waited float64
	Failed                 bool // whether the program failed or could not be started
}

// Missing returns the processor-seconds to which the node was entitled and for which it waited,
// but which it did not get. The result is at most Waited, because a program that does not use
// its share misses nothing, and at most Entitled − Used, because no service is owed beyond the
// share.
func (s *Served) Missing() float64 { return max(0, min(s.Waited, s.Entitled-s.Used)) }

// A host is at fault only if the missing amount exceeds 2 % of the entitlement plus 0.5
// processor-seconds. The measurement of usage on hosts is not more accurate than this.
const (
	missingPart    = 0.02
	missingSeconds = 0.5
)

// CauseOf returns the cause for which work of programs on real hosts was not done. The
// argument work is the requested processor-seconds over all nodes. The argument away is the
// entitlement of nodes while their hosts were lost, plus the work lost with these hosts. The
// argument promised reports whether the class of the contract promises the work rather than
// only the price. The result is the first of these causes that applies:
//
//	program  a program failed, or could not be started
//	         (empty) the work was done
//	host     hosts delivered less than programs were entitled to and waited for, and what was
//	         missing would have completed the work
//	market   the class promises the work, but the entitlement was too small for it
//	price    the class promises only the price, and the bid bought too little for the work
//	asked    the entitlement sufficed, but the programs did not use it
//
// The order matters, because a host must not be blamed for work that a failed program would
// not have done.
func CauseOf(nodes []Served, work, away float64, promised bool) string {
	var entitled, used, missing float64
	failed := false
	for i := range nodes {
		n := &nodes[i]
		entitled, used, missing = entitled+n.Entitled, used+n.Used, missing+n.Missing()
		failed = failed || n.Failed
	}
	missing += away
	switch given := entitled + away; {
	case failed:
		return byProgram
	case used >= work:
		return kept
	case missing > missingPart*given+missingSeconds && used+missing >= work:
		return byHost
	case given < work && promised:
		return byMarket
	case given < work:
		return byPrice
	}
	return byAsked
}

// A Promise specifies the penalty for a contract that a host or the market breaks, as
// fractions of its budget. Penalty applies if all of the work is missing; if some was done,
// the penalty is proportionally lower. Most limits the result. The zero value promises
// nothing.
type Promise struct {
	Penalty float64 `yaml:"penalty" validate:"min=0,max=1000" doc:"penalty if all of the work is missing, as a fraction of the budget"`
	Most    float64 `yaml:"most" validate:"min=0,max=1000" doc:"maximum penalty, as a fraction of the budget"`
}

// Owed returns the penalty on a contract with the given budget, rounded toward zero. The
// argument done is the part of the requested work that was completed. For example, with
// Penalty 0.5, a budget of $10 and 60 % of the work done, the penalty is 0.5 × $10 × 0.4 = $2,
// unless Most limits it to less.
func (p Promise) Owed(budget bank.Amount, done, work float64) (bank.Amount, error) {
	if p.Penalty == 0 || !(done < work) {
		return bank.Amount{}, nil
	}
	owed, err := budget.Part(p.Penalty*(work-max(0, done)), work)
	if err != nil {
		return owed, err
	}
	most, err := budget.Part(p.Most, 1)
	if owed.Cmp(most) > 0 {
		owed = most
	}
	return owed, err
}
