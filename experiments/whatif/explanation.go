package whatif

import (
	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission"
)

// A terms contains the terms of a job's request.
type terms struct {
	Work     float64     `json:"work" doc:"work per node as estimated by the owner of the job, in processor-seconds"`
	Nodes    int         `json:"nodes"`
	Deadline float64     `json:"deadline" doc:"time from the submission to the deadline, in seconds"`
	Budget   bank.Amount `json:"budget"`
	Class    string      `json:"class,omitempty"`
	Submit   float64     `json:"submit" doc:"time of the submission, s"`
}

// A number is a number that the policy computed for its decision.
type number struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// A test is a requirement of the policy with the value found.
type test struct {
	Contract int64   `json:"contract" doc:"number of the contract with the promise: the job itself, or a contract that was admitted before"`
	What     string  `json:"what" doc:"name of the number that the policy compared"`
	Got      float64 `json:"got"`
	Want     float64 `json:"want"`
	AtMost   bool    `json:"at_most" doc:"true if want is a maximum, false if it is a minimum"`

	word string // the policy's description of the test
}

// Missing returns the amount by which the value missed the requirement. It is 0 or negative if
// the test was passed.
func (t *test) Missing() float64 {
	if t.AtMost {
		return t.Got - t.Want
	}
	return t.Want - t.Got
}

// A decision is the decision on a job.
type decision struct {
	At      float64  `json:"at" doc:"time of the decision, s"`
	Verdict string   `json:"verdict" doc:"accept, reject, or defer if the run ended before the decision"`
	Reason  string   `json:"reason,omitempty"`
	Numbers []number `json:"numbers" doc:"numbers that the policy used, in the order of use"`
	Test    *test    `json:"test" doc:"decisive test, or the last test that the job passed; null if no test compared two numbers"`
}

// decided returns the decision d on a job, made at time at, in the form used by reports. For a
// rejection, it includes the test that failed. For an acceptance, it includes the last test
// that was passed. The policy's tests are in all. If a test concerns another contract, the
// result names this contract.
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
			has = true // zero values are omitted
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

// A change is the smallest change in one dimension that, with everything else unchanged, would
// have reversed the decision on the job.
type change struct {
	Of       string  `json:"of" doc:"budget, deadline, nodes, submit or class"`
	By       string  `json:"by" doc:"description of the change"`
	Terms    terms   `json:"terms"`
	Tried    int     `json:"tried" doc:"decisions"`
	Monotone bool    `json:"monotone" doc:"true if every smaller change that was tried fails and every larger one succeeds"`
	Reason   string  `json:"reason,omitempty" doc:"reason why the job would have been refused"`
	Then     *effect `json:"then" doc:"outcome of all jobs; null if the job would have been refused"`
}

// An unsolved is a dimension in which no change was found that would have reversed the
// decision.
type unsolved struct {
	Of    string `json:"of"`
	Until string `json:"until" doc:"last value tried"`
	Tried int    `json:"tried"`
}

// An effect summarizes the alternative outcomes of all jobs.
type effect struct {
	Outcome     outcome       `json:"fate" doc:"outcome of the job"`
	Has         bank.Amount   `json:"has" doc:"surplus of the job's owner: the value of the job, minus payments, plus penalties"`
	Externality bank.Amount   `json:"externality" doc:"value of the work of all other users without the job, minus the value of this work with the job: the Clarke price"`
	Paid        bank.Amount   `json:"others_paid" doc:"change in the payments of all other users, minus penalties"`
	Gain        int           `json:"gain" doc:"number of other users who gain"`
	Lose        int           `json:"lose"`
	Jobs        []comparedJob `json:"jobs" doc:"other users whose value or payment changes, the largest gains first"`
}

// effectOf returns the effect, given the actual and the alternative outcomes of all jobs. The
// explained job has the number job. The argument in reports whether the alternative includes
// that job.
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
	Job      int64           `json:"job" doc:"number of the job in the plan"`
	Owner    string          `json:"owner"`
	Policy   string          `json:"policy"`
	Asked    terms           `json:"asked"`
	Decision decision        `json:"decision"`
	Taken    *terms          `json:"taken" doc:"offer that the owner accepted instead of a rejection; null if there was no offer"`
	Outcome  outcome         `json:"fate" doc:"outcome of the job"`
	Changes  []change        `json:"changes" doc:"smallest changes that would have reversed the decision: acceptance of a refused job, or refusal of an accepted job"`
	Unsolved []unsolved      `json:"vain" doc:"terms for which no change was found that would have reversed the decision"`
	Help     *help           `json:"help" doc:"combined changes or policies that would have helped a refused job; null if a single change would have been sufficient"`
	Without  *effect         `json:"without" doc:"outcome of all jobs without the job; null if the job was not accepted"`
	Frontier []frontierPoint `json:"frontier" doc:"lowest accepted budgets; omitted unless requested"`
}

// A help is a change to several terms or to the policy with which a job would have been
// admitted. A report contains it if no change to a single term is sufficient.
type help struct {
	Terms    *terms   `json:"terms" doc:"acceptable terms that differ in several ways from the request; null if none were found"`
	Tried    int      `json:"tried" doc:"decisions"`
	Policies []string `json:"policies" doc:"other policies of the configuration that accept the job unchanged"`
}

// A frontierPoint is a deadline with the lowest budget for which the job would have been
// accepted.
type frontierPoint struct {
	Deadline float64     `json:"deadline" doc:"number of users sampled, over all replications"`
	Budget   bank.Amount `json:"budget"`
}
