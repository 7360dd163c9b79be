package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"bourse/contracts"
	"bourse/contracts/admission/outside"
	"bourse/hosts"
	"bourse/market"
	"bourse/workloadgen/plugin"
)

// An env contains the data that a script can use during one call. No object that belongs to it
// outlives the call, because a script cannot write to a value that does.
type env struct {
	*outside.Question
	hosts *starlark.List // nil until the script uses the hosts
}

// A class defines the fields and methods that scripts can use on a T.
type class[T any] struct {
	name    string
	fields  map[string]func(T) starlark.Value
	methods map[string]*starlark.Builtin
}

func (c *class[T]) of(it T) object[T] { return object[T]{c, it} }

// names returns the names of the fields and methods in alphabetical order.
func (c *class[T]) names() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(c.fields)), maps.Keys(c.methods))))
}

// An object is the Starlark value that represents a T.
type object[T any] struct {
	class *class[T]
	it    T
}

// String implements [starlark.Value].
func (o object[T]) String() string {
	if s, ok := any(o.it).(fmt.Stringer); ok {
		return s.String()
	}
	return "<" + o.class.name + ">"
}

// Type implements [starlark.Value].
func (o object[T]) Type() string { return o.class.name }

// Freeze implements [starlark.Value].
func (object[T]) Freeze() {}

// Truth implements [starlark.Value].
func (object[T]) Truth() starlark.Bool { return true }

// Hash implements [starlark.Value].
func (o object[T]) Hash() (uint32, error) {
	return 0, errors.New(o.class.name + " cannot be a key or part of a set; use its id")
}

// AttrNames implements [starlark.HasAttrs].
func (o object[T]) AttrNames() []string { return o.class.names() }

// Attr implements [starlark.HasAttrs].
func (o object[T]) Attr(name string) (starlark.Value, error) {
	if f, ok := o.class.fields[name]; ok {
		return f(o.it), nil
	}
	if m, ok := o.class.methods[name]; ok {
		return m.BindReceiver(o), nil
	}
	text := fmt.Sprintf("%s has no field %s", o.class.name, name)
	if near := plugin.Nearest(name, o.class.names()); near != "" {
		text += "; did you mean " + near + "?"
	}
	return nil, errors.New(text)
}

// method returns a method for objects that wrap a T.
func method[T any](name string, f func(it T, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error)) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		v, err := f(b.Receiver().(object[T]).it, args, kw)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return v, err
	})
}

// one returns the only argument of a function, which has the given name.
func one(f, name string, args starlark.Tuple, kw []starlark.Tuple) (v starlark.Value, err error) {
	if len(args) == 1 && kw == nil { // fast path for the usual case
		return args[0], nil
	}
	err = starlark.UnpackArgs(f, args, kw, name, &v)
	return v, err
}

// list returns a frozen list of n values.
func list(n int, value func(i int) starlark.Value) *starlark.List {
	values := make([]starlark.Value, n)
	for i := range values {
		values[i] = value(i)
	}
	l := starlark.NewList(values)
	l.Freeze()
	return l
}

func float(x float64) starlark.Value { return starlark.Float(x) }

func integer[T ~int | ~int32 | ~int64](n T) starlark.Value { return starlark.MakeInt64(int64(n)) }

type (
	asked struct { // a request
		*env
		r *contracts.Request
	}
	host struct {
		*env
		id hosts.ID
	}
	task struct {
		*env
		a *contracts.Allocation
	}
	accepted struct { // a contract
		*env
		number int32
		c      *contracts.Contract
	}
	room struct {
		*env
		hosts.Resources
	}
	placement struct{ contracts.Placement }
	claim     struct{ outside.Claim }
)

// String describes the placement.
func (p placement) String() string { return fmt.Sprintf("(%d, %v)", p.Host, p.Bid) }

// The fields and methods of each class are in separate variables below.
var (
	requests   = &class[asked]{name: "request", fields: requestFields}
	rooms      = &class[room]{name: "room", fields: roomFields}
	placements = &class[placement]{name: "placement", fields: placementFields}
	claims     = &class[claim]{name: "claim", fields: claimFields}
	answers    = &class[*answer]{name: "answer", fields: answerFields}
	promises   = &class[accepted]{name: "contract", fields: contractFields}
	tasks      = &class[task]{name: "task", fields: taskFields}
	machines   = &class[host]{name: "host", fields: hostFields, methods: hostMethods}
	markets    = &class[*env]{name: "market", fields: marketFields, methods: marketMethods}
)

var requestFields = map[string]func(asked) starlark.Value{
	"id":           func(a asked) starlark.Value { return integer(a.r.ID) },
	"nodes":        func(a asked) starlark.Value { return integer(a.r.Nodes) },
	"work":         func(a asked) starlark.Value { return float(a.r.Work) },
	"total":        func(a asked) starlark.Value { return float(a.r.Total()) },
	"submit":       func(a asked) starlark.Value { return float(a.r.Submit) },
	"due":          func(a asked) starlark.Value { return float(a.r.Due()) },
	"deadline":     func(a asked) starlark.Value { return float(a.r.SLA.Deadline) },
	"lead":         func(a asked) starlark.Value { return float(a.r.Lead) },
	"budget":       func(a asked) starlark.Value { return float(a.r.SLA.Budget.Float64()) },
	"rate":         func(a asked) starlark.Value { return float(a.r.Rate().Float64()) },
	"class":        func(a asked) starlark.Value { return starlark.String(a.r.Class) },
	"per_host":     func(a asked) starlark.Value { return starlark.Bool(a.r.PerHost) },
	"on_demand":    func(a asked) starlark.Value { return starlark.Bool(a.r.OnDemand) },
	"repeat":       func(a asked) starlark.Value { return starlark.Bool(a.r.Repeat) },
	"min_cpu":      func(a asked) starlark.Value { return float(a.r.Needs.Min.CPU) },
	"max_cpu":      func(a asked) starlark.Value { return float(a.r.Needs.Max.CPU) },
	"memory":       func(a asked) starlark.Value { return float(a.r.Needs.Min.Memory) },
	"disk":         func(a asked) starlark.Value { return float(a.r.Needs.Min.Disk) },
	"bandwidth":    func(a asked) starlark.Value { return float(a.r.Needs.Min.Bandwidth) },
	"penalty_rate": func(a asked) starlark.Value { return float(a.r.SLA.Penalty.Rate) },
	"penalty_max":  func(a asked) starlark.Value { return float(a.r.SLA.Penalty.Max) },
}

var marketFields = map[string]func(*env) starlark.Value{
	"now":    func(e *env) starlark.Value { return float(e.Now) },
	"fleet":  func(e *env) starlark.Value { return integer(e.View.Fleet()) },
	"floors": func(e *env) starlark.Value { return starlark.Bool(e.Floors()) },
	"priced": func(e *env) starlark.Value {
		names := e.Priced()
		return list(len(names), func(i int) starlark.Value { return starlark.String(names[i]) })
	},
	"hosts": func(e *env) starlark.Value {
		if e.hosts == nil {
			e.hosts = list(e.View.Fleet(), func(h int) starlark.Value { return machines.of(host{e, hosts.ID(h)}) })
		}
		return e.hosts
	},
	"contracts": func(e *env) starlark.Value {
		all := e.Contracts()
		return list(len(all), func(i int) starlark.Value { return e.contract(all[i]) })
	},
	"waiting": func(e *env) starlark.Value {
		all := e.Waiting()
		return list(len(all), func(i int) starlark.Value { return requests.of(asked{e, all[i]}) })
	},
}

func (e *env) contract(number int32) starlark.Value {
	return promises.of(accepted{e, number, e.View.Contract(number)})
}

var marketMethods = map[string]*starlark.Builtin{
	"place": method("place", func(e *env, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs("place", args, kw); err != nil {
			return nil, err
		}
		on, why := e.Place()
		if why != contracts.None {
			return starlark.String(why), nil
		}
		return list(len(on), func(i int) starlark.Value { return placements.of(placement{on[i]}) }), nil
	}),
	"bid": method("bid", func(e *env, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		var on, rate starlark.Value
		if err := starlark.UnpackArgs("bid", args, kw, "host", &on, "rate?", &rate); err != nil {
			return nil, err
		}
		h, ok := on.(object[host])
		if !ok {
			return nil, fmt.Errorf("found %s, want a host", on.Type())
		}
		bid := e.Request.LeastBid()
		if rate != nil {
			x, ok := starlark.AsFloat(rate)
			if !ok {
				return nil, fmt.Errorf("found the rate %v, want $/s", rate)
			}
			var err error
			if bid, err = market.Dollars(x); err != nil {
				return nil, err
			}
		}
		return placements.of(placement{contracts.Placement{Host: h.it.id, Bid: bid}}), nil
	}),
	"contract": method("contract", func(e *env, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		var n int32
		if err := starlark.UnpackArgs("contract", args, kw, "number", &n); err != nil {
			return nil, err
		}
		if !slices.Contains(e.Contracts(), n) {
			return nil, fmt.Errorf("found %d, want the number of a contract that has a task", n)
		}
		return e.contract(n), nil
	}),
}

var placementFields = map[string]func(placement) starlark.Value{
	"host": func(p placement) starlark.Value { return integer(p.Host) },
	"bid":  func(p placement) starlark.Value { return float(p.Bid.Float64()) },
}

var claimFields = map[string]func(claim) starlark.Value{
	"resource": func(c claim) starlark.Value { return starlark.String(c.Resource) },
	"part":     func(c claim) starlark.Value { return float(c.Part) },
	"bid":      func(c claim) starlark.Value { return float(c.Bid) },
	"price":    func(c claim) starlark.Value { return float(c.Price) },
}

var roomFields = map[string]func(room) starlark.Value{
	"memory":    func(r room) starlark.Value { return float(r.Memory) },
	"disk":      func(r room) starlark.Value { return float(r.Disk) },
	"bandwidth": func(r room) starlark.Value { return float(r.Bandwidth) },
}

var hostFields = map[string]func(host) starlark.Value{
	"id":        func(h host) starlark.Value { return integer(h.id) },
	"name":      func(h host) starlark.Value { return starlark.String(h.View.Spec(h.id).Name) },
	"cpus":      func(h host) starlark.Value { return float(h.View.Spec(h.id).CPUs) },
	"speed":     func(h host) starlark.Value { return float(h.View.Spec(h.id).Speed) },
	"cap":       func(h host) starlark.Value { return float(h.View.Spec(h.id).Cap) },
	"memory":    func(h host) starlark.Value { return float(h.View.Spec(h.id).Room.Memory) },
	"disk":      func(h host) starlark.Value { return float(h.View.Spec(h.id).Room.Disk) },
	"bandwidth": func(h host) starlark.Value { return float(h.View.Spec(h.id).Room.Bandwidth) },
	"price":     func(h host) starlark.Value { return float(h.View.Price(h.id).Float64()) },
	"free":      func(h host) starlark.Value { return integer(outside.Free(h.id, h.View)) },
	"away":      func(h host) starlark.Value { return starlark.Bool(h.View.Unavailable(h.id)) },
	"room":      func(h host) starlark.Value { return rooms.of(room{h.env, h.View.Room(h.id)}) },
	"on": func(h host) starlark.Value {
		on := h.View.On(h.id)
		return list(len(on), func(i int) starlark.Value { return tasks.of(task{h.env, &on[i]}) })
	},
}

var hostMethods = map[string]*starlark.Builtin{
	"percentile": method("percentile", func(h host, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		g, resource := starlark.Float(0), hosts.CPU.Name(nil)
		if err := starlark.UnpackArgs("percentile", args, kw, "g", &g, "resource?", &resource); err != nil {
			return nil, err
		}
		if !(g > 0 && g < 1) {
			return nil, fmt.Errorf("found %v, want a probability above 0 and below 1", g)
		}
		x, err := h.Percentile(h.id, resource, float64(g))
		return float(x), err
	}),
	"fits": method("fits", func(h host, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		var r starlark.Value
		var idle bool
		if err := starlark.UnpackArgs("fits", args, kw, "request", &r, "idle?", &idle); err != nil {
			return nil, err
		}
		a, ok := r.(object[asked])
		if !ok {
			return nil, fmt.Errorf("found %s, want a request", r.Type())
		}
		return starlark.Bool(h.Fits(h.id, a.it.r, idle)), nil
	}),
	"claims": onPlacement("claims", func(h host, p contracts.Placement) starlark.Value {
		all := h.Claims(p)
		return list(len(all), func(i int) starlark.Value { return claims.of(claim{all[i]}) })
	}),
	"affords": onPlacement("affords", func(h host, p contracts.Placement) starlark.Value { return starlark.Bool(h.Affords(p)) }),
	"stays": method("stays", func(h host, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		span, err := one("stays", "span", args, kw)
		if err != nil {
			return nil, err
		}
		x, ok := starlark.AsFloat(span)
		if !ok || !(x >= 0) {
			return nil, fmt.Errorf("found %v, want seconds, 0 or more", span)
		}
		if h.View.Unavailable(h.id) {
			return float(0), nil
		}
		return float(h.Stays(h.id, x)), nil
	}),
	"divide": onPlacement("divide", func(h host, p contracts.Placement) starlark.Value {
		bid := p.Bid
		if h.Priced() != nil {
			bid, _ = market.Dollars(h.Claims(p)[0].Bid) // bid for processors, part of a whole bid
		}
		rates := h.divide(bid)
		return list(len(rates), func(i int) starlark.Value { return float(rates[i]) })
	}),
}

// onPlacement returns a method of hosts that has a placement as its argument. The method treats
// the placement as one on that host.
func onPlacement(name string, f func(h host, p contracts.Placement) starlark.Value) *starlark.Builtin {
	return method(name, func(h host, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		on, err := one(name, "placement", args, kw)
		if err != nil {
			return nil, err
		}
		p, ok := on.(object[placement])
		if !ok {
			return nil, fmt.Errorf("found %s, want a placement", on.Type())
		}
		return f(h, contracts.Placement{Host: h.id, Bid: p.it.Bid}), nil
	})
}

// divide returns the work per second that each task on h would receive if a new task of the
// request, with the given bid for processors, were added. The new task is the last.
func (h host) divide(bid market.Rate) []float64 {
	on, spec := h.View.On(h.id), h.View.Spec(h.id)
	shares, rates := make([]hosts.Share, 0, len(on)+1), make([]float64, len(on)+1)
	for i := range on {
		shares = append(shares, on[i].Share)
	}
	shares = append(shares, hosts.Share{Weight: float64(bid), Limit: h.Request.Needs.Max.CPU})
	hosts.Divide(spec.CPUs, spec.Cap, shares, rates)
	for i := range rates {
		rates[i] *= spec.Speed
	}
	return rates
}

var taskFields = map[string]func(task) starlark.Value{
	"number":   func(t task) starlark.Value { return integer(t.a.Contract) },
	"contract": func(t task) starlark.Value { return t.contract(t.a.Contract) },
	"bid":      func(t task) starlark.Value { return float(t.a.Bid.Float64()) },
	"rate":     func(t task) starlark.Value { return float(t.a.Rate) },
	"paying":   func(t task) starlark.Value { return float(t.a.Paying) },
	"left":     func(t task) starlark.Value { return float(t.a.Left(t.Now, t.View.Contract(t.a.Contract))) },
}

var contractFields = map[string]func(accepted) starlark.Value{
	"id":        func(a accepted) starlark.Value { return integer(a.c.ID) },
	"number":    func(a accepted) starlark.Value { return integer(a.number) },
	"due":       func(a accepted) starlark.Value { return float(a.c.Due()) },
	"work":      func(a accepted) starlark.Value { return float(a.c.Work) },
	"total":     func(a accepted) starlark.Value { return float(a.c.Total()) },
	"remaining": func(a accepted) starlark.Value { return float(a.c.Remaining(a.Now)) },
	"rate":      func(a accepted) starlark.Value { return float(a.c.Rate) },
	"budget":    func(a accepted) starlark.Value { return float(a.c.SLA.Budget.Float64()) },
	"admitted":  func(a accepted) starlark.Value { return float(a.c.Admitted) },
	"per_host":  func(a accepted) starlark.Value { return starlark.Bool(a.c.PerHost) },
	"on_demand": func(a accepted) starlark.Value { return starlark.Bool(a.c.OnDemand) },
	"hosts": func(a accepted) starlark.Value {
		on := outside.HostsOf(a.c)
		return list(len(on), func(i int) starlark.Value { return integer(on[i]) })
	},
}

// An answer is the value that decide returns.
type answer struct {
	at      syntax.Position // position of the call that created the answer
	verdict contracts.Verdict
	reason  string
	on      []contracts.Placement
	numbers contracts.Numbers
}

// String describes the answer, for tests of scripts.
func (a *answer) String() string {
	text := a.verdict.String()
	if a.reason != "" {
		text += fmt.Sprintf(" %q", a.reason)
	}
	for _, p := range a.on {
		text += " " + placement{p}.String()
	}
	for i := range a.numbers {
		name, x := a.numbers[i].Value()
		text += fmt.Sprintf(" %s=%v", name, x)
	}
	return text
}

var answerFields = map[string]func(*answer) starlark.Value{
	"verdict": func(a *answer) starlark.Value { return starlark.String(a.verdict.String()) },
	"reason":  func(a *answer) starlark.Value { return starlark.String(a.reason) },
	"on": func(a *answer) starlark.Value {
		return list(len(a.on), func(i int) starlark.Value { return placements.of(placement{a.on[i]}) })
	},
	"numbers": func(a *answer) starlark.Value {
		d := starlark.NewDict(len(a.numbers))
		for i := range a.numbers {
			name, x := a.numbers[i].Value()
			_ = d.SetKey(starlark.String(name), starlark.Float(x)) // text can be a key
		}
		return d
	},
}
