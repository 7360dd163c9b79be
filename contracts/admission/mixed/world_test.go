package mixed

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// tb is a test, ours or rapid's.
type tb interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
}

// options are the options of a scenario; a plug-in is given those that it knows.
type options map[string]any

// decode fills in v with the options that it has fields for.
func (o options) decode(v any) error {
	known := options{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v).Elem()) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if x, ok := o[name]; ok {
			known[name] = x
		}
	}
	text, err := json.Marshal(known)
	if err != nil {
		return err
	}
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(v); err != io.EOF {
		return err
	}
	return nil
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// newDecider makes the decider of that policy, on the cheapest hosts.
func newDecider(t tb, name string, o options) contracts.Decider {
	t.Helper()
	rng := rand.New(rand.NewPCG(0, 0))
	bid := must(bidding.Table(rng).New("cheapest", func(any) error { return nil }))
	p := must(Policies()[name].New(o.decode, bid, rng))
	return reflect.ValueOf(p).Elem().FieldByName("Decider").Interface().(contracts.Decider)
}
