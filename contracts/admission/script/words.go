package script

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"

	"bourse/contracts"
)

// words contains the names that a script can use in addition to the built-in names of the
// language.
var words = starlark.StringDict{
	"accept": starlark.NewBuiltin("accept", accept),
	"reject": starlark.NewBuiltin("reject", reject),
	"defer":  starlark.NewBuiltin("defer", later),
	"option": starlark.NewBuiltin("option", option),
	"random": starlark.NewBuiltin("random", random),
	"range":  starlark.NewBuiltin("range", span),
	"sum":    starlark.NewBuiltin("sum", sum),
	"ulp":    starlark.NewBuiltin("ulp", ulp),

	// The next three are valid only in tests.
	"request": starlark.NewBuiltin("request", part(false)),
	"market":  starlark.NewBuiltin("market", part(true)),
	"equal":   starlark.NewBuiltin("equal", equal),

	"math": &starlarkstruct.Module{Name: "math", Members: functions("ceil", "floor", "sqrt", "exp", "log", "pow")},
}

// functions returns the named functions of Starlark's math module.
func functions(names ...string) starlark.StringDict {
	some := make(starlark.StringDict, len(names))
	for _, name := range names {
		some[name] = math.Module.Members[name]
	}
	return some
}

// answered returns an answer that records the position of the running call.
func answered(th *starlark.Thread, v contracts.Verdict, numbers *starlark.Dict) (*answer, error) {
	a := &answer{verdict: v, at: th.CallFrame(1).Pos}
	if numbers == nil {
		return a, nil
	}
	for _, item := range numbers.Items() {
		name, ok := item[0].(starlark.String)
		if !ok {
			return nil, fmt.Errorf("found the number %v, want a name that is text", item[0])
		}
		var n contracts.Number
		switch x := item[1].(type) {
		case starlark.Float:
			n = contracts.Measured(string(name), float64(x))
		case starlark.Int:
			i, ok := x.Int64()
			if !ok {
				return nil, fmt.Errorf("the number %s is %v, want less than 2^63", string(name), x)
			}
			n = contracts.Counted(string(name), int(i))
		case object[accepted]:
			n = contracts.Concerned(string(name), x.it.c.ID)
		case object[asked]:
			n = contracts.Concerned(string(name), x.it.r.ID)
		default:
			return nil, fmt.Errorf("the number %s is %s, want a number, a contract or a request", string(name), x.Type())
		}
		a.numbers = append(a.numbers, n)
	}
	return a, nil
}

func accept(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var on starlark.Iterable
	var numbers *starlark.Dict
	if err := starlark.UnpackArgs("accept", args, kw, "on", &on, "numbers?", &numbers); err != nil {
		return nil, err
	}
	a, err := answered(th, contracts.Accept, numbers)
	if err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	for v := range starlark.Elements(on) {
		p, ok := v.(object[placement])
		if !ok {
			return nil, fmt.Errorf("accept: found %s, want placements, such as the result of market.place() or market.bid(host)", v.Type())
		}
		a.on = append(a.on, p.it.Placement)
	}
	return answers.of(a), nil
}

func reject(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var reason string
	var numbers *starlark.Dict
	if err := starlark.UnpackArgs("reject", args, kw, "reason", &reason, "numbers?", &numbers); err != nil {
		return nil, err
	}
	a, err := answered(th, contracts.Reject, numbers)
	if err != nil {
		return nil, fmt.Errorf("reject: %w", err)
	}
	a.reason = reason
	return answers.of(a), nil
}

func later(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs("defer", args, kw); err != nil {
		return nil, err
	}
	a, err := answered(th, contracts.Defer, nil)
	return answers.of(a), err
}

// option declares an option of the script and returns its value.
func option(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var o Option
	if err := starlark.UnpackArgs("option", args, kw, "name", &o.Name, "default", &o.Value, "doc?", &o.Doc); err != nil {
		return nil, err
	}
	l, ok := th.Local("loading").(*loading)
	if !ok {
		return nil, errors.New("option is for the top of the file, not for functions that run later")
	}
	for _, other := range l.s.Options {
		if other.Name == o.Name {
			return nil, fmt.Errorf("option %s is declared twice", o.Name)
		}
	}
	if given, ok := l.given[o.Name]; ok {
		v := valueLike(o.Value, given)
		if v == nil {
			return nil, fmt.Errorf("option %s: found %v, want a value like its default, %v (%s)", o.Name, given, o.Value, o.Value.Type())
		}
		o.Value = v
	}
	l.s.Options = append(l.s.Options, o)
	return o.Value, nil
}

// valueLike converts a value from a scenario to the type of like. It returns nil if the value
// has a different type.
func valueLike(like starlark.Value, given any) starlark.Value {
	text, err := json.Marshal(given)
	if err != nil {
		return nil
	}
	v, err := decodeState(text)
	if _, wanted := like.(starlark.Float); wanted && err == nil {
		if x, ok := starlark.AsFloat(v); ok {
			return starlark.Float(x)
		}
	}
	if err != nil || v.Type() != like.Type() {
		return nil
	}
	return v
}

func random(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs("random", args, kw); err != nil {
		return nil, err
	}
	e, ok := th.Local("env").(*env)
	if !ok || e.View == nil {
		return nil, errors.New("random is for decide")
	}
	return starlark.Float(e.Random()), nil
}

// sum adds from left to right, so that its result is the same on every machine.
func sum(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var all starlark.Iterable
	if err := starlark.UnpackArgs("sum", args, kw, "numbers", &all); err != nil {
		return nil, err
	}
	var total starlark.Value = starlark.MakeInt(0)
	for v := range starlark.Elements(all) {
		switch v.(type) {
		case starlark.Int, starlark.Float:
		default:
			return nil, fmt.Errorf("sum: found %s, want numbers", v.Type())
		}
		var err error
		if total, err = starlark.Binary(syntax.PLUS, total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// span is Starlark's range function with a limit on the length. A function such as max, which
// cannot be stopped, would never return from a range of 2^60 numbers.
func span(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	v, err := starlark.Call(th, starlark.Universe["range"], args, kw)
	if n := starlark.Len(v); err == nil && (n < 0 || n > Steps) {
		err = fmt.Errorf("range: found more than %d numbers, the most that one call may use", Steps)
	}
	return v, err
}

// ulp returns the distance from a time to the next larger one.
func ulp(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	x, err := one("ulp", "x", args, kw)
	if err != nil {
		return nil, err
	}
	f, ok := starlark.AsFloat(x)
	if !ok {
		return nil, fmt.Errorf("ulp: found %s, want a number", x.Type())
	}
	return starlark.Float(contracts.Moment(f)), nil
}
