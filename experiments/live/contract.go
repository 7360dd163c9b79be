package live

import (
	"cmp"
	"encoding/json"
	"math"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/contracts/order"
	"bourse/contracts/settlement"
	"bourse/hosts"
	"bourse/hosts/remote"
)

// A Contract is a request and its outcome.
type Contract struct {
	ID        int64            `json:"contract"`
	Order     string           `json:"order" doc:"id that the owner gave the contract"`
	Account   string           `json:"account"`
	State     string           `json:"state" doc:"state: held, waiting, running, fulfilled, violated, cancelled or refused"`
	Held      string           `json:"held,omitempty" doc:"reason why the contract is held: quota, throttle, or after CONTRACT"`
	Early     bool             `json:"early,omitempty" doc:"true if the policy did not decide: a quota or a dependency refused the contract, or it was cancelled while it was held"`
	Name      string           `json:"name,omitempty" doc:"name of the job"`
	Project   string           `json:"project,omitempty" doc:"project that pays, from account project:PROJECT; omitted if the account itself pays"`
	Class     string           `json:"class,omitempty"`
	Nodes     int              `json:"nodes"`
	CPUs      float64          `json:"cpus"`
	Memory    int64            `json:"memory,omitempty" doc:"bytes of memory that each node holds, if its hosts sell memory"`
	Disk      int64            `json:"disk,omitempty" doc:"bytes of disk that each node holds, if the market sells disk"`
	Counts    map[string]int32 `json:"count,omitempty" doc:"number of units of each countable resource that each node holds, such as gpu"`
	Bandwidth int64            `json:"bandwidth,omitempty" doc:"bytes per second that each node holds; they are only reserved, not enforced"`
	Licences  map[string]int32 `json:"licences,omitempty" doc:"number of units of each of the market's licences that the contract holds until it ends"`
	Work      float64          `json:"work" doc:"work per node, in processor-seconds"`
	Deadline  float64          `json:"deadline" doc:"time limit in seconds after the submission"`
	Budget    bank.Amount      `json:"budget"`
	Job       string           `json:"job"`

	Submitted float64         `json:"submitted" doc:"time of the submission (or of the release, if the order was held), in seconds since 2000-01-01 UTC"`
	Decision  json.RawMessage `json:"decision,omitempty"`
	Places    []Place         `json:"places,omitempty" doc:"host of each node"`
	Receipt   string          `json:"receipt,omitempty" doc:"receipt of the admission or rejection"`
	Tasks     []Task          `json:"tasks,omitempty" doc:"programs started for the contract"`
	Ends      []End           `json:"ends,omitempty" doc:"exit statuses of the contract's tasks, as reported by hosts"`

	Deleted    []Deletion  `json:"deleted,omitempty" doc:"output of the contract's tasks that hosts deleted to free space"`
	Settlement string      `json:"settlement,omitempty" doc:"receipt from the bank"`
	Settled    float64     `json:"settled,omitempty" doc:"time of the settlement; omitted in records of earlier versions"`
	Ended      float64     `json:"ended,omitempty" doc:"time of the end"`
	Outcome    string      `json:"outcome,omitempty" doc:"verdict: fulfilled, late, broken or cancelled; or fault: command, if the command could not be started"`
	Done       float64     `json:"done" doc:"work of all nodes at the last report, in processor-seconds"`
	Delay      float64     `json:"delay,omitempty" doc:"delay after the deadline, s"`
	Losses     int         `json:"losses,omitempty" doc:"number of times that a host was lost while it ran a task of the contract"`
	Paid       bank.Amount `json:"paid,omitzero"`
	Back       bank.Amount `json:"back,omitzero"`
	Penalty    bank.Amount `json:"penalty,omitzero"`
	Withheld   bank.Amount `json:"withheld,omitzero" doc:"part of the penalty that is withheld from the charges and is not included in paid"`
	Charges    []Charge    `json:"charges,omitempty" doc:"charges for each resource, which add up to the charges so far (or, after the end, to paid + withheld); omitted if the contract pays only for processors"`
	Unsettled  string      `json:"unsettled,omitempty" doc:"reason why the bank refuses the settlement or penalty, which the market sends again until the bank books it"`

	Served *Served `json:"served,omitempty" doc:"processor time; omitted until the contract has begun"`

	terms  order.Terms
	queued queued

	least bank.Amount // lowest budget that the contract has had; 0 if the budget has not changed
	order string      // signed order
	job   string      // text of the job

	ranks  []int32 // host of each node, or its last host, counted from 1; 0 if the node had no host. It is set only if there are several nodes
	port   int32   // first port that the nodes may use, or 0
	memory float64 // bytes of memory that each node holds if the market sells memory; 0 in records of earlier versions
	disk   float64 // bytes of disk, in the same way

	saved map[int32][]string // files of the last checkpoint of each node
	lost  []loss             // nodes of the contract that have no host because their hosts were lost
	fault *fault             // why the contract was not fulfilled, if known
}

// A Place is the host of one node of a contract.
type Place struct {
	Host  string  `json:"host"`
	Bid   float64 `json:"bid" doc:"$/s"`
	Share float64 `json:"share" doc:"share of the host's processors to which the task is entitled"`
	Done  float64 `json:"done" doc:"work"`
	Owed  float64 `json:"owed" doc:"$"`
}

// A Charge is the part of the charges of a contract that is for one resource.
type Charge struct {
	Resource string      `json:"resource" doc:"cpu, memory, gpu, ..."`
	Rate     float64     `json:"rate" doc:"present rate of the charges, in $/s; 0 after the end of the contract"`
	Amount   bank.Amount `json:"amount" doc:"charges so far, in dollars; in a quote, the expected charges"`

	owed float64 // dollars before rounding
}

// divide sets the amounts of charges, which sum to total.
func divide(charges []Charge, total bank.Amount) {
	var owed []float64
	for i := range charges {
		owed = append(owed, charges[i].owed)
	}
	for i, part := range settlement.Divide(total, owed) {
		charges[i].Amount = part
	}
}

// chargesOf returns the charges of a broker with amounts, which sum to at most the budget.
func chargesOf(all []broker.Charge, budget bank.Amount, counts []string) (out []Charge, err error) {
	sum := 0.0
	for _, x := range all {
		out = append(out, Charge{Resource: resourceName(x.Kind, counts), Rate: x.Rate, owed: x.Owed})
		sum += x.Owed
	}
	total, err := bank.Nearest(min(sum, budget.Float64()))
	divide(out, total)
	return out, err
}

// resourceName returns the name of a kind of resource in charges.
func resourceName(kind hosts.Kind, counts []string) string {
	if kind == contracts.OfLicences {
		return "licences"
	}
	return kind.Name(counts)
}

// charges returns the present charges of c by resource, or nil if it pays only for processors.
func (k *core) charges(c *Contract) []Charge {
	all, err := chargesOf(k.broker.Charges(contracts.ID(c.ID)), c.Budget, k.config.Counts)
	if err != nil {
		return nil // the amounts exceed any budget
	}
	return all
}

// A Task is a node on a host. Its folder on that host is called CONTRACT.NODE.NAME.
type Task struct {
	Node int32  `json:"node"`
	Host string `json:"host"`
	Name int64  `json:"name"`
}

// An End states how a task ended.
type End struct {
	Node        int32     `json:"node"`
	Host        string    `json:"host"`
	Name        int64     `json:"task" doc:"number of the task on the host"`
	Why         hosts.End `json:"why"`
	Code        uint8     `json:"code,omitempty" doc:"exit status of the task's program"`
	Signal      string    `json:"signal,omitempty"`
	Fault       string    `json:"fault,omitempty"`
	OutOfMemory bool      `json:"out_of_memory,omitempty"`
}

// Over reports whether c has reached its final state.
func (c *Contract) Over() bool {
	return c.State != heldWord && c.State != "waiting" && c.State != "running"
}

// again reports whether the market starts a further attempt at a node whose task has ended.
// This is the case if the program asks for it and attempts are left before the deadline.
func (k *core) again(c *Contract, node int32, e *remote.End) bool {
	if e.Why != hosts.Failed || e.Code != remote.TryAgain || e.Signal != "" || e.OutOfMemory || c.State != "running" || k.now >= c.due(math.Inf(1)) {
		return false
	}
	left := c.terms.Requeue
	for i := range c.Ends {
		if was := &c.Ends[i]; was.Node == node && was.Why == hosts.Failed && was.Code == remote.TryAgain {
			left--
		}
	}
	return left > 0
}

// try returns the number of the attempt at a node whose task has the given name on a host.
func (c *Contract) try(node int32, host string, name int64) int32 {
	n := int32(1)
	for _, t := range c.Tasks {
		if t == (Task{node, host, name}) {
			break
		}
		if t.Node == node {
			n++
		}
	}
	return n
}

// A Deletion describes the output that a host has deleted, according to the host's last
// report.
type Deletion struct {
	Node  int32  `json:"node"`
	Host  string `json:"host"`
	Bytes int64  `json:"bytes"`
	Why   string `json:"why"`
}

func endOf(node int32, host string, e *remote.End) End {
	return End{node, host, e.Name, e.Why, e.Code, e.Signal, e.Fault, e.OutOfMemory}
}

func newContract(id int64, o *bankorder.Signed, t *order.Terms, s *submission, now float64) *Contract {
	return &Contract{
		ID: id, Order: o.Value("id"), Account: o.Value("account"), State: "waiting", Class: t.Class, Nodes: t.Nodes, CPUs: t.CPUs,
		Work: t.Work, Deadline: t.Deadline, Budget: t.Budget, Job: t.Job, Submitted: now, Project: t.Project, terms: *t, order: s.Order, job: s.Job, memory: s.Memory, disk: s.Disk, Counts: t.Counts, Licences: t.Licences,
	}
}

// decided notes a decision.
func (c *Contract) decided(k *core, d *contracts.Decision) {
	c.Decision = d.AppendJSON(nil)
	if d.Verdict == contracts.Reject {
		c.Ended = k.now
	}
	c.look(k)
}

// settled records how c ended, and when and how the bank answered the settlement. The names of the
// market's countable resources are in counts.
func (c *Contract) settled(e *contracts.Settled, counts []string, at float64, r reply) {
	c.State, c.Outcome, c.Ended = e.Outcome.State(), e.Outcome.String(), e.Ended
	c.Done, c.Delay, c.Losses = e.Done, e.Delay, e.Losses
	c.Settlement, c.Back, c.Penalty = r.Receipt, r.Moved, e.Penalty
	if c.Charges = nil; e.Charged != nil {
		for kind, owed := range e.Charged {
			if owed > 0 || kind == int(hosts.CPU) {
				c.Charges = append(c.Charges, Charge{Resource: resourceName(hosts.Kind(kind), counts), owed: owed})
			}
		}
	}
	if c.Settlement != "" {
		c.Settled = at
	}
	c.Paid, _ = c.Budget.Sub(r.Moved)
	if math.IsInf(c.Delay, 1) {
		c.Delay = 0
	}
}

// payer returns the account that pays for c.
func (c *Contract) payer() string {
	if c.Project != "" {
		return "project:" + c.Project
	}
	return c.Account
}

// of reports whether c belongs to an account or is paid by it.
func (c *Contract) of(account string) bool { return account == c.Account || account == c.payer() }

// Booked returns the time of the settlement of c, or of its end in records of earlier versions.
func (c *Contract) Booked() float64 { return cmp.Or(c.Settled, c.Ended) }

// Charged returns the charges of c before a part of the penalty was deducted from them.
func (c *Contract) Charged() bank.Amount {
	sum, _ := c.Paid.Add(c.Withheld) // the sum is at most the budget
	return sum
}

// look updates the published view of c, an open contract.
func (c *Contract) look(k *core) {
	phase, ok := k.broker.Phase(contracts.ID(c.ID))
	if !ok {
		return
	}
	c.State, c.Done, c.Places, c.Charges = "waiting", 0, nil, k.charges(c)
	if phase != contracts.Running {
		return
	}
	c.State = "running"
	v := k.broker.View()
	for h := range k.hosts {
		on := v.On(hosts.ID(h))
		for i := range on {
			a := &on[i]
			if int64(v.Contract(a.Contract).ID) != c.ID {
				continue
			}
			c.Places = append(c.Places, Place{k.hosts[h].Spec.Name, a.Bid.Float64(), a.Rate / k.hosts[h].Spec.Capacity(), a.Done, a.Owed})
			c.Done += a.Done
		}
	}
	k.serves(c)
}
