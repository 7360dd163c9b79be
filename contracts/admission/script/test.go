package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"bourse/contracts/admission/outside"
	"bourse/contracts/bidding"
)

// A Result is the result of one test of a script.
type Result struct {
	Test    string `json:"test"`
	Failure string `json:"failure,omitempty" doc:"file, line, column and problem; omitted if the test passed"`
}

// A bench is the market of a running test. The most recent calls of request and market have
// set it.
type bench struct {
	request, market map[string]any
	e               *env
}

// Test runs the functions test_… of the script in text. They may call request, market and
// equal. Print receives the text that they print.
func Test(path string, text []byte, print func(string), guard outside.Guard) ([]Result, error) {
	s, err := Compile(path, text, nil, guard)
	if err != nil {
		return nil, err
	}
	s.Print = print
	var all []Result
	for _, name := range slices.Sorted(maps.Keys(s.Globals)) {
		f, ok := s.Globals[name].(*starlark.Function)
		if !ok || !strings.HasPrefix(name, "test_") {
			continue
		}
		th := thread(name)
		th.SetLocal("bench", new(bench))
		r, done := Result{Test: name}, guard.Start(th)
		if _, err := s.call(th, f, nil); err != nil {
			r.Failure = err.Error()
		}
		done()
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: found no tests, want functions whose names begin with test_", path)
	}
	return all, nil
}

// part returns a built-in function that sets the request or the market of a test from its
// named arguments, and returns an object for it.
func part(market bool) func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return func(th *starlark.Thread, f *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		b, ok := th.Local("bench").(*bench)
		if !ok {
			return nil, fmt.Errorf("%s is for functions whose names begin with test_", f.Name())
		}
		if len(args) > 0 {
			return nil, fmt.Errorf("%s: want named arguments, such as nodes=1", f.Name())
		}
		d := starlark.NewDict(len(kw))
		for _, pair := range kw {
			if err := d.SetKey(pair[0], pair[1]); err != nil {
				return nil, err
			}
		}
		text, err := encodeState(d)
		if err != nil {
			return nil, err
		}
		with := map[string]any{}
		if err := json.Unmarshal(text, &with); err != nil {
			return nil, err
		}
		if market {
			b.market = with
		} else {
			b.request = with
		}
		q, err := b.question()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if b.e == nil {
			b.e = new(env)
			th.SetLocal("env", b.e)
		}
		*b.e = env{Question: q}
		if market {
			return markets.of(b.e), nil
		}
		return requests.of(asked{b.e, q.Request}), nil
	}
}

// question returns the question about the bench's request and market. Parts that the test
// omits have default values.
func (b *bench) question() (*outside.Question, error) {
	request := map[string]any{"id": 1, "nodes": 1, "work": 100, "deadline": 100, "budget": 1}
	maps.Copy(request, b.request)
	all := map[string]any{"now": 0}
	maps.Copy(all, b.market)
	all["request"] = request
	hosts, err := filled(all, "hosts", map[string]any{"cpus": 1, "speed": 1})
	if err != nil {
		return nil, err
	}
	for i, h := range hosts {
		if _, ok := h["free"]; ok {
			return nil, fmt.Errorf("hosts[%d]: found free, which is computed from cpus and the tasks in on", i)
		}
		if h["id"] == nil {
			h["id"] = i
		}
		if x, ok := h["percentile"].(float64); ok {
			h["percentile"] = []float64{x}
		}
		if _, err := filled(h, "on", map[string]any{"left": 100}); err != nil {
			return nil, fmt.Errorf("hosts[%d]: %w", i, err)
		}
	}
	if _, err := filled(all, "contracts", map[string]any{"work": 100, "total": 100, "remaining": 100, "due": 100, "budget": 1}); err != nil {
		return nil, err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	bid, err := bidding.Table(nil).New("cheapest", nil)
	if err != nil {
		return nil, err
	}
	q, _, err := outside.Read(text, bid, nil)
	return q, err
}

// filled returns the dicts in the list in[name]. Values that a dict omits are added from with.
func filled(in map[string]any, name string, with map[string]any) ([]map[string]any, error) {
	list, _ := in[name].([]any)
	all := make([]map[string]any, len(list))
	for i := range list {
		given, ok := list[i].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s[%d]: found %v, want a dict, such as {}", name, i, list[i])
		}
		all[i] = maps.Clone(with)
		maps.Copy(all[i], given)
	}
	if len(list) > 0 {
		in[name] = all
	}
	return all, nil
}

// equal fails unless its arguments are equal. Answers are compared as text.
func equal(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var got, want starlark.Value
	if err := starlark.UnpackArgs("equal", args, kw, "got", &got, "want", &want); err != nil {
		return nil, err
	}
	same, err := starlark.Equal(got, want)
	if err != nil {
		return nil, err
	}
	if _, ok := got.(object[*answer]); ok {
		same = got.String() == want.String()
	}
	if !same {
		return nil, fmt.Errorf("found %v, want %v", got, want)
	}
	return starlark.None, nil
}
