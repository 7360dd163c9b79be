package settlement

import "bourse/bank"

// Causes: see [CauseOf].
const (
	kept      = ""
	byProgram = "program"
	byHost    = "host"
	byPrice   = "price"
	byMarket  = "market"
	byAsked   = "asked"
)

// Served is what one node was entitled to, and used, in processor-seconds, and how long it
// could have run and did not, in seconds.
type Served struct {
	Entitled, Used, Waited float64
	Failed                 bool // its program, or it could not be started
}

// Missing returns the processor-seconds that the node asked for, was entitled to, and did not
// get. What it waited for beyond its share is nobody's fault.
func (s *Served) Missing() float64 { return max(0, min(s.Waited, s.Entitled-s.Used)) }

// How much may be missing before it is a host's fault: hosts are measured no better.
const (
	missingPart    = 0.02
	missingSeconds = 0.5
)

// CauseOf returns why work of programs on real hosts, in processor-seconds over all nodes, was
// not done. Away is what nodes were entitled to while their hosts were lost, and what work was
// lost with these; promised says that the class of the contract promises the work, not only
// the price. The first that holds is the cause:
//
//	program  a program failed, or could not be started
//	         (empty) the work was done
//	host     hosts delivered less than programs were entitled to and waited for, which would have done
//	market   the market promised more than it entitled programs to
//	price    the same of a class that promises the price: the bid did not buy the work
//	asked    enough was offered, and programs did not ask for it
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

// A Promise is what is paid to the owner of a contract that a host or the market breaks, in
// parts of its budget: Penalty for all of the work, less in proportion where some of it was
// done, and never more than Most. The zero value promises nothing.
type Promise struct {
	Penalty float64 `yaml:"penalty" validate:"min=0,max=1000" doc:"what is paid if all of the work is missing, in parts of the budget"`
	Most    float64 `yaml:"most" validate:"min=0,max=1000" doc:"the most that is paid, in parts of the budget"`
}

// Owed returns what is owed of a budget where so much of the work was done, rounded toward
// zero.
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
