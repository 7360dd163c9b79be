// Package script creates admission policies from Starlark files. A file defines the function
// decide,
//
//	def decide(request, market):
//
// which returns accept(on), reject(reason) or defer(). The documentation page own-policy
// describes the names that a file can use and declare. Package outside defines the question
// and checks the answer.
//
// A script cannot read clocks or files, and its only memory is the state that it declares, so
// the same questions have the same answers. A call is stopped after [Steps] steps.
package script

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/admission/outside"
	"bourse/contracts/bidding"
	"bourse/workloadgen/plugin"
)

// Limits of one call of a script.
const (
	Steps    = 1_000_000 // computation steps, and numbers in a range
	maxText  = 256 << 10 // bytes of a script
	maxPrint = 1 << 20   // bytes that a call prints
)

// Options are the options of a policy that is a script.
type Options struct {
	File    string         `yaml:"file" validate:"required" doc:"Starlark file with a function decide"`
	Options map[string]any `yaml:"options" doc:"values of the options that the file declares"`

	script *Script
}

// Load reads and compiles the file.
func (o *Options) Load(read func(path string) ([]byte, error), guard outside.Guard) error {
	text, err := read(o.File)
	if err == nil {
		o.script, err = Compile(o.File, text, o.Options, guard)
	}
	return err
}

// New returns a policy from the options that decode sets and loads.
func New(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	var o Options
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.script == nil {
		return nil, fmt.Errorf("file: found %q, want a Starlark file; scripts are not loaded here", o.File)
	}
	return outside.New(o.script, o.script.Terms, bid, rng), nil
}

// A Script is a compiled file. It never changes.
type Script struct {
	Terms   outside.Terms
	Globals starlark.StringDict // frozen
	Options []Option            // options that the file declares, in order
	Print   func(text string)   // receives the output of the script; nil discards it

	file   string
	decide *starlark.Function
	order  *starlark.Function // nil if requests are handled in order of submission
	ended  *starlark.Function // nil if the script does not need outcomes
}

// An Option is an option that a script declares.
type Option struct {
	Name  string
	Value starlark.Value
	Doc   string
}

// A loading is the state of a script that is being loaded.
type loading struct {
	given map[string]any
	s     *Script
}

// Compile returns the script in text. It guards the statements at the top of the file and the
// function start, unless guard is nil. Each error contains a position in the file at path.
func Compile(path string, text []byte, options map[string]any, guard outside.Guard) (s *Script, err error) {
	defer caught(path, &err)
	s = &Script{file: path}
	if len(text) > maxText {
		return nil, fmt.Errorf("%s: found %d bytes, want a script of at most %d", path, len(text), maxText)
	}
	s.Terms.Waiting, s.Terms.Sharing, s.Terms.Source = outside.Own, "auction", fmt.Sprintf("%x", sha256.Sum256(text))
	language := &syntax.FileOptions{While: true, Set: true}
	tree, err := language.Parse(path, text, 0)
	if err != nil {
		return nil, place(path, err)
	}
	for _, statement := range tree.Stmts {
		if load, ok := statement.(*syntax.LoadStmt); ok {
			return nil, fmt.Errorf("%s: load is not available; a policy is one file", load.Load)
		}
	}
	syntax.Walk(tree, func(n syntax.Node) bool {
		if dot, ok := n.(*syntax.DotExpr); ok && dot.Name.Name == "percentile" {
			s.Terms.Forecasts = true
		}
		return true
	})
	program, err := starlark.FileProgram(tree, words.Has)
	if err != nil {
		return nil, place(path, err)
	}
	th := thread("load")
	defer guard.Start(th)()
	th.SetLocal("loading", &loading{options, s})
	if s.Globals, err = program.Init(&th.Thread, words); err != nil {
		return nil, place(path, err)
	}
	s.Globals.Freeze()
	known := make([]string, len(s.Options))
	for i := range s.Options {
		known[i] = s.Options[i].Name
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%s: option %s", path, plugin.Unknown(name, known))
		}
	}
	th.SetLocal("loading", nil)
	return s, s.declarations(&th.Thread)
}

// declarations reads the declarations of the file.
func (s *Script) declarations(th *starlark.Thread) (err error) {
	function := func(name string, params ...string) (f *starlark.Function) {
		v := s.Globals[name]
		if v == nil {
			return nil
		}
		f, ok := v.(*starlark.Function)
		if !ok || f.NumParams() != len(params) || f.HasVarargs() || f.HasKwargs() {
			err = errors.Join(err, fmt.Errorf("%s: found %s that is no function of this form, want def %s(%s)", s.file, name, name, strings.Join(params, ", ")))
		}
		return f
	}
	start, with := function("start"), []string{"request", "market"}
	if start != nil {
		with = append(with, "state")
	}
	s.decide, s.order, s.ended = function("decide", with...), function("order", "request"), function("ended", append([]string{"request", "outcome"}, with[2:]...)...)
	if err != nil {
		return err
	}
	if s.decide == nil {
		return fmt.Errorf("%s: found no function decide, want def decide(%s)", s.file, strings.Join(with, ", "))
	}
	t := &s.Terms
	t.Ordered, t.Reported = s.order != nil, s.ended != nil
	var tests starlark.Value = starlark.None
	for name, to := range map[string]any{"waiting": &t.Waiting, "sharing": &t.Sharing, "spot": &t.Spot, "tests": &tests} {
		if v := s.Globals[name]; v != nil {
			if err := starlark.UnpackArgs(name, starlark.Tuple{v}, nil, name, to); err != nil {
				return fmt.Errorf("%s: %w", s.file, err)
			}
		}
	}
	if ways := []string{outside.Own, outside.Queue, outside.Scan}; !slices.Contains(ways, t.Waiting) {
		return fmt.Errorf("%s: waiting: found %q, %s", s.file, t.Waiting, plugin.OneOf(t.Waiting, ways))
	}
	if t.Ordered && t.Waiting == outside.Own {
		return fmt.Errorf(`%s: found a function order without a queue, want waiting = "queue" or "scan" with it`, s.file)
	}
	t.Queues = t.Waiting == outside.Queue
	if t.Tests, err = testsOf(tests); err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	if start == nil {
		return nil
	}
	first, err := starlark.Call(th, start, nil, nil)
	if err != nil {
		return place(s.file, err)
	}
	t.Start, err = s.state(first)
	return err
}

// testsOf reads the tests that explanations use.
func testsOf(v starlark.Value) (all []admission.Test, err error) {
	if v == starlark.None {
		return nil, nil
	}
	list, ok := v.(starlark.Iterable)
	if !ok {
		return nil, fmt.Errorf("tests: found %s, want a list", v.Type())
	}
	for v := range starlark.Elements(list) {
		var reason, got, want, side, word string
		tuple, _ := v.(starlark.Tuple)
		if err := starlark.UnpackPositionalArgs("tests", tuple, nil, 5, &reason, &got, &want, &side, &word); err != nil || side != "least" && side != "most" {
			return nil, fmt.Errorf(`tests: found %v, want (reason, name of a number, name of its limit, "least" or "most", words)`, v)
		}
		all = append(all, admission.Test{Reason: contracts.Reason(reason), Got: got, Want: want, AtMost: side == "most", Word: word})
	}
	return all, nil
}

// A call is one call of a script. The guard of a script can make the call run a check between
// operations.
type call struct {
	starlark.Thread
	check atomic.Pointer[func()]
}

// seldom is the number of steps after which a call looks for a check, and often is the number
// of steps between two checks. A statement that doubles a list takes 4 steps.
const (
	seldom = 16
	often  = 4
)

// thread returns the thread of one call.
func thread(name string) *call {
	c := new(call)
	c.Name, c.Print = name, func(*starlark.Thread, string) {}
	c.SetMaxExecutionSteps(seldom)
	c.OnMaxSteps = func(th *starlark.Thread) {
		if th.Steps >= Steps {
			th.Cancel(fmt.Sprintf("it has taken more than %d steps, the most that one call may take", Steps))
		}
		next := th.Steps + seldom
		if check := c.check.Load(); check != nil {
			(*check)()
			next = th.Steps + often
		}
		th.SetMaxExecutionSteps(min(next, Steps))
	}
	return c
}

// CheckOften makes the call run check between operations.
func (c *call) CheckOften(check func()) { c.check.Store(&check) }

// ask calls a function of the script about q. It returns its result and the new state as JSON.
func (s *Script) ask(q *outside.Question, f *starlark.Function) (v starlark.Value, state []byte, err error) {
	e := &env{Question: q}
	args := append(make(starlark.Tuple, 0, 3), requests.of(asked{e, q.Request}))
	switch f {
	case s.decide:
		args = append(args, markets.of(e))
	case s.ended:
		args = append(args, starlark.String(q.Outcome))
	}
	stateful := s.Terms.Start != nil && f != s.order
	if stateful {
		before, err := decodeState(q.State)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: state: %w", s.file, err)
		}
		args = append(args, before)
	}
	th := thread(f.Name())
	th.SetLocal("env", e)
	done := e.Guard(th)
	v, err = s.call(th, f, args)
	done()
	if e.Steps = th.ExecutionSteps(); err == nil && stateful {
		state, err = s.state(args[len(args)-1])
	}
	return v, state, err
}

// call calls a function of the script. The call ends if it prints too much.
func (s *Script) call(th *call, f *starlark.Function, args starlark.Tuple) (v starlark.Value, err error) {
	defer caught(s.file, &err)
	left := maxPrint
	th.Print = func(th *starlark.Thread, text string) {
		if left -= len(text); left < 0 {
			th.Cancel(fmt.Sprintf("it has printed more than %d bytes", maxPrint))
		} else if s.Print != nil {
			s.Print(text)
		}
	}
	if v, err = starlark.Call(&th.Thread, f, args, nil); err != nil {
		return nil, place(s.file, err)
	}
	return v, nil
}

// caught turns a panic of the interpreter, for example because a list exceeds the memory, into
// an error of the script in the file at path.
func caught(path string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%s: found a statement that cannot be computed: %v", path, v)
	}
}

// Decide implements [outside.Mind].
func (s *Script) Decide(q *outside.Question) (a outside.Answer, err error) {
	out, state, err := s.ask(q, s.decide)
	if err != nil {
		return a, err
	}
	o, ok := out.(object[*answer])
	if !ok {
		return a, fmt.Errorf("%s: decide returned %s, want accept(…), reject(…) or defer()", s.decide.Position(), out.Type())
	}
	a = outside.Answer{Verdict: o.it.verdict, Reason: o.it.reason, Placements: o.it.on, Numbers: o.it.numbers, State: state}
	if _, err = q.Check(&a); err != nil {
		err = fmt.Errorf("%s: %w", o.it.at, err)
	}
	return a, err
}

// Ended implements [outside.Mind].
func (s *Script) Ended(q *outside.Question) ([]byte, error) {
	_, state, err := s.ask(q, s.ended)
	return state, err
}

// state returns the state as JSON.
func (s *Script) state(v starlark.Value) ([]byte, error) {
	text, err := encodeState(v)
	if err != nil {
		err = fmt.Errorf("%s: %w", s.file, err)
	}
	return text, err
}

// Key implements [outside.Mind].
func (s *Script) Key(q *outside.Question) ([]float64, error) {
	v, _, err := s.ask(q, s.order)
	if err != nil {
		return nil, err
	}
	values := starlark.Tuple{v}
	if t, ok := v.(starlark.Tuple); ok {
		values = t
	}
	key := make([]float64, len(values))
	for i, v := range values {
		x, ok := starlark.AsFloat(v)
		if !ok || x != x {
			return nil, fmt.Errorf("%s: order returned %s, want a number or a tuple of numbers", s.order.Position(), v.Type())
		}
		key[i] = x
	}
	return key, nil
}

// place adds the position in the file to an error.
func place(path string, err error) error {
	var failed *starlark.EvalError
	if !errors.As(err, &failed) {
		return err // errors of the parser already contain the position
	}
	text := strings.TrimPrefix(failed.Msg, "Starlark computation cancelled: ")
	for i := range failed.CallStack {
		if at := failed.CallStack.At(i).Pos; at.Filename() == path {
			return fmt.Errorf("%s: %.1000s", at, text)
		}
	}
	return fmt.Errorf("%s: %.1000s", path, text)
}
