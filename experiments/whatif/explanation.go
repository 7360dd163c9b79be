package whatif

import (
	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission"
)

// Terms are what a job asks for.
type terms struct {
	Work     float64     `json:"work" doc:"of a node, processor-seconds, as its owner estimates it"`
	Nodes    int         `json:"nodes"`
	Deadline float64     `json:"deadline" doc:"s after it is submitted"`
	Budget   bank.Amount `json:"budget"`
	Class    string      `json:"class,omitempty"`
	Submit   float64     `json:"submit" doc:"instant, s"`
}

// A number is one that the policy has looked at.
type number struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// A test is what was to be reached, and what was.
type test struct {
	Contract int64   `json:"contract" doc:"whose it is: that of the job itself, or one that is admitted already"`
	What     string  `json:"what" doc:"name of the number"`
	Got      float64 `json:"got"`
	Want     float64 `json:"want"`
	AtMost   bool    `json:"at_most" doc:"want is the most that it may be, otherwise the least"`

	word string // what it is, as the policy says it
}

// Missing returns by how much t falls short, 0 or less if it is passed.
func (t *test) Missing() float64 {
	if t.AtMost {
		return t.Got - t.Want
	}
	return t.Want - t.Got
}

// A decision is what was decided of a job.
type decision struct {
	At      float64  `json:"at" doc:"instant, s"`
	Verdict string   `json:"verdict" doc:"accept, reject, or defer: the run ended before it was decided"`
	Reason  string   `json:"reason,omitempty"`
	Numbers []number `json:"numbers" doc:"that the policy looked at, in its order"`
	Test    *test    `json:"test" doc:"that decided it, or the last that it passed; null if there is none of two numbers"`
}

// decided returns the decision d of a job, made at an instant, as it is told: of a refusal with
// the test that has its reason, otherwise with the last that was passed. All are the tests of
// the policy; a test about another contract says so.
func decided(job int64, at float64, by *contracts.Decision, asked terms, all []admission.Test) decision {
	d := decision{At: at, Verdict: by.Verdict.String(), Reason: string(by.Reason), Numbers: []number{}}
	for i := range by.Numbers {
		name, value := by.Numbers[i].Value()
		d.Numbers = append(d.Numbers, number{name, value})
	}
	contract, named := by.Numbers.Contract()
	of := map[string]float64{"nodes": float64(asked.Nodes), "budget": asked.Budget.Float64()}
	for _, n := range d.Numbers {
		of[n.Name] = n.Value
	}
	for _, t := range all {
		got, has := of[t.Got]
		want, wants := of[t.Want]
		if d.Verdict == "reject" {
			if d.Reason != string(t.Reason) {
				continue
			}
			has = true // nothing is said of what is 0
		}
		if !has || !wants {
			continue
		}
		d.Test = &test{Contract: job, What: t.Got, Got: got, Want: want, AtMost: t.AtMost, word: t.Word}
		if named {
			d.Test.Contract = int64(contract)
		}
	}
	return d
}

// A change is the least in one dimension with which the job would have been decided
// otherwise, all else as it was.
type change struct {
	Of       string  `json:"of" doc:"budget, deadline, nodes, submit or class"`
	By       string  `json:"by" doc:"the change, in words"`
	Terms    terms   `json:"terms"`
	Tried    int     `json:"tried" doc:"decisions"`
	Monotone bool    `json:"monotone" doc:"nothing that was tried says that less would do, or more would not"`
	Reason   string  `json:"reason,omitempty" doc:"it would have been refused for"`
	Then     *effect `json:"then" doc:"what would have become of all; null if it would have been refused"`
}

// An unsolved is a dimension in which no change was found.
type unsolved struct {
	Of    string `json:"of"`
	Until string `json:"until" doc:"the last that was looked at"`
	Tried int    `json:"tried"`
}

// An effect is what would have become of all.
type effect struct {
	Outcome     outcome       `json:"fate" doc:"of the job"`
	Has         bank.Amount   `json:"has" doc:"its owner of it: its worth, less what was paid, and penalties"`
	Externality bank.Amount   `json:"externality" doc:"what the work of all others is worth without the job, less what it is worth with it: its Clarke price"`
	Paid        bank.Amount   `json:"others_paid" doc:"all others, more than they did, less penalties"`
	Gain        int           `json:"gain" doc:"others who have more"`
	Lose        int           `json:"lose"`
	Jobs        []comparedJob `json:"jobs" doc:"the others whose work is worth more or less, or who pay more or less; those who gain most first"`
}

// effectOf returns the outcome in which the job is as in is, where jobs are all, once as it
// was and once as it would be: with the job, if in says so, which was not in then.
func effectOf(job int64, jobs []comparedJob, in bool) *effect {
	var o effect
	others := []comparedJob{}
	var externality, paid int64
	for _, j := range jobs {
		if j.ID == job {
			o.Outcome = j.Is
			o.Has = bank.Micros(j.Is.surplus())
			continue
		}
		externality += j.Was.Worth.Micros() - j.Is.Worth.Micros()
		paid += j.Is.Paid.Micros() - j.Is.Penalty.Micros() - j.Was.Paid.Micros() + j.Was.Penalty.Micros()
		if j.Was.Worth != j.Is.Worth || j.Was.Paid != j.Is.Paid || j.Was.Penalty != j.Is.Penalty {
			others = append(others, j)
		}
	}
	if !in {
		externality = -externality
	}
	r := compared("", "", others)
	o.Externality, o.Paid = bank.Micros(externality), bank.Micros(paid)
	o.Gain, o.Lose, o.Jobs = r.Gain, r.Lose, r.Jobs
	return &o
}

// An Explanation explains one decision.
type Explanation struct {
	Run      string          `json:"run" doc:"CONFIGURATION/ADMISSION/REPLICATION"`
	Job      int64           `json:"job" doc:"its number in the plan"`
	Owner    string          `json:"owner"`
	Policy   string          `json:"policy"`
	Asked    terms           `json:"asked"`
	Decision decision        `json:"decision"`
	Taken    *terms          `json:"taken" doc:"the offer that its owner took in place of the refusal; null if there was none"`
	Outcome  outcome         `json:"fate" doc:"what became of it"`
	Changes  []change        `json:"changes" doc:"of a refused job: with which it would have been accepted; of an accepted one: refused"`
	Unsolved []unsolved      `json:"vain" doc:"dimensions in which no change was found"`
	Help     *help           `json:"help" doc:"what would have helped a refused job if no single change does; null otherwise"`
	Without  *effect         `json:"without" doc:"what would have become of all without the job; null if it was not accepted"`
	Frontier []frontierPoint `json:"frontier" doc:"budgets with which it would have been accepted; none unless asked for"`
}

// A help is what would have let in a job that no single change lets in.
type help struct {
	Terms    *terms   `json:"terms" doc:"terms with several changes that would have been accepted; null if none was found"`
	Tried    int      `json:"tried" doc:"decisions"`
	Policies []string `json:"policies" doc:"other policies of the configuration that accept it as it is"`
}

// A frontierPoint is the least budget with which a job would have been accepted with a deadline.
type frontierPoint struct {
	Deadline float64     `json:"deadline" doc:"s after it is submitted"`
	Budget   bank.Amount `json:"budget"`
}
