package outside

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/contracts/note"
)

// A Program describes a policy that runs as a separate program and answers questions in lines
// of JSON.
type Program struct {
	Command  []string       `yaml:"command" validate:"min=1" doc:"program and its arguments; it runs in the folder of the scenario file"`
	Files    []string       `yaml:"files" doc:"files that determine what the program answers; their hashes are stored with the results"`
	Folder   string         `yaml:"folder" doc:"folder in which the program runs; if omitted, that of the scenario file"`
	Options  map[string]any `yaml:"options" doc:"options to send to the program"`
	Confined bool           `yaml:"confined" doc:"run the program in namespaces of its own and under Landlock, where it can read only files; Linux only"`
	Timeout  float64        `yaml:"timeout" validate:"gt=0,max=3600" doc:"time limit of an answer, s"`

	Mind  Mind  `yaml:"-"` // mind that asks the program; nil until the program is connected
	Terms Terms `yaml:"-"`
}

// Paths returns the paths of the files.
func (p *Program) Paths() (all []string) {
	for _, name := range p.Files {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Folder, name)
		}
		all = append(all, name)
	}
	return all
}

// NewProgram returns a policy from the options. The function decode sets the options and
// connects the program.
func NewProgram(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	p := Program{Timeout: 10}
	if err := decode(&p); err != nil {
		return nil, err
	}
	if p.Mind == nil {
		return nil, errors.New("command: found a program, which does not run here; want a script")
	}
	return New(p.Mind, p.Terms, bid, rng), nil
}

// Version is the version of the protocol with programs.
const Version = 1

// A Hello is the declaration of a program.
type Hello struct {
	Hello       string          `json:"hello"`
	Version     int             `json:"version"`
	Name        string          `json:"name"`
	Sees        []string        `json:"sees"`
	Percentiles []float64       `json:"percentiles"`
	Random      int             `json:"random"`
	Waiting     string          `json:"waiting"`
	Sharing     string          `json:"sharing"`
	Spot        bool            `json:"spot"`
	Reported    bool            `json:"told"`
	Tests       [][5]string     `json:"tests"`
	State       json.RawMessage `json:"state"`
}

// hello is the required value of the field hello.
const hello = "bourse policy"

// ParseHello parses the line in which a program declares its terms and the parts of questions
// that it wants.
func ParseHello(line []byte) (t Terms, p Parts, err error) {
	var h Hello
	if err := strict(line, &h); err != nil {
		return t, p, err
	}
	if h.Hello != hello || h.Version < 1 || h.Version > Version {
		return t, p, fmt.Errorf("found hello %q of version %d, want %q of version %d", clip(h.Hello), h.Version, hello, Version)
	}
	for _, part := range h.Sees {
		to := map[string]*bool{"hosts": &p.Hosts, "contracts": &p.Contracts, "waiting": &p.Waiting}[part]
		if to == nil {
			return t, p, fmt.Errorf("sees: found %q, want hosts, contracts or waiting", clip(part))
		}
		*to = true
	}
	if len(h.Percentiles) > 100 || slices.ContainsFunc(h.Percentiles, func(g float64) bool { return !(g > 0 && g < 1) }) {
		return t, p, fmt.Errorf("percentiles: found %s, want at most 100 probabilities above 0 and below 1", clip(fmt.Sprint(h.Percentiles)))
	}
	if h.Random < 0 || h.Random > 1000 {
		return t, p, fmt.Errorf("random: found %d, want 0 to 1000", h.Random)
	}
	p.Percentiles, p.Random = h.Percentiles, h.Random
	t.Waiting, t.Sharing = cmp.Or(h.Waiting, Own), cmp.Or(h.Sharing, "auction")
	if t.Waiting != Own && t.Waiting != Queue && t.Waiting != Scan {
		return t, p, fmt.Errorf("waiting: found %q, want own, queue or scan", clip(t.Waiting))
	}
	if t.Start, err = canonical(h.State); err != nil {
		return t, p, err
	}
	for _, test := range h.Tests {
		t.Tests = append(t.Tests, admission.Test{Reason: contracts.Reason(test[0]), Got: test[1], Want: test[2], AtMost: test[3] == "most", Word: test[4]})
	}
	t.Spot, t.Reported, t.Queues, t.Forecasts = h.Spot, h.Reported, t.Waiting == Queue, len(h.Percentiles) > 0
	return t, p, nil
}

// ParseAnswer parses the line with the answer to question number ask. It does not check the
// answer: see [Question.Check].
func ParseAnswer(line []byte, ask int, ended bool) (a Answer, err error) {
	var w struct {
		Ask     *int            `json:"ask"`
		Accept  []proposed      `json:"accept"` // placements, which may repeat fields of the question
		Reject  *string         `json:"reject"`
		Defer   bool            `json:"defer"`
		Numbers json.RawMessage `json:"numbers"`
		State   json.RawMessage `json:"state"`
	}
	if err := strict(line, &w); err != nil {
		return a, err
	}
	if w.Ask == nil || *w.Ask != ask {
		return a, fmt.Errorf("found the answer %q, want the field ask with the value %d", clip(string(line)), ask)
	}
	answers := 0
	if a.State, err = canonical(w.State); err != nil {
		return a, err
	}
	if w.Accept != nil {
		answers++
		a.Verdict = contracts.Accept
		for _, b := range w.Accept {
			p, err := b.Placement()
			if err != nil {
				return a, err
			}
			a.Placements = append(a.Placements, p)
		}
	}
	if w.Reject != nil {
		answers++
		a.Reason = *w.Reject
	}
	if w.Defer {
		answers++
		a.Verdict = contracts.Defer
	}
	if ended && answers > 0 || !ended && answers != 1 {
		return a, fmt.Errorf("found %d of the fields accept, reject and defer in the answer %q, want one of them if a request is to be decided", answers, clip(string(line)))
	}
	if w.Numbers == nil {
		return a, nil
	}
	fields, ok := note.Fields(w.Numbers)
	if !ok {
		return a, fmt.Errorf("numbers: found %s, want an object", clip(string(w.Numbers)))
	}
	for _, f := range fields {
		n, err := numberOf(f)
		if err != nil {
			return a, err
		}
		a.Numbers = append(a.Numbers, n)
	}
	return a, nil
}

// canonical returns a JSON value with sorted keys, or nil if there is no value.
func canonical(text []byte) ([]byte, error) {
	if text == nil {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// numberOf converts a field of an answer to a number. A whole number without a point is a
// count.
func numberOf(f note.Field) (n contracts.Number, err error) {
	switch v := f.Value.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil && !strings.ContainsAny(v.String(), ".eE") {
			return contracts.Counted(f.Name, int(i)), nil
		}
		if x, err := v.Float64(); err == nil {
			return contracts.Measured(f.Name, x), nil
		}
	case map[string]any:
		if id, ok := v["contract"].(json.Number); ok && len(v) == 1 {
			if i, err := id.Int64(); err == nil {
				return contracts.Concerned(f.Name, contracts.ID(i)), nil
			}
		}
	}
	return n, fmt.Errorf(`numbers: found %s under %s, want a number, or {"contract": ID}`, clip(fmt.Sprint(f.Value)), clip(f.Name))
}

// strict decodes one JSON object. It rejects unknown and repeated fields and any text after
// the object.
func strict(line []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if of := new(json.UnmarshalTypeError); errors.As(err, &of) && of.Field == "" {
		err = fmt.Errorf("found %s", of.Value) // because the message of package json contains the type of v
	} else if err == nil {
		if _, after := dec.Token(); after != io.EOF {
			err = errors.New("more than one value in a line")
		}
	}
	seen := make(map[string]bool)
	fields, _ := note.Fields(line)
	for _, f := range fields {
		if name := strings.ToLower(f.Name); err == nil && seen[name] {
			err = fmt.Errorf("found two fields %s", name)
		} else {
			seen[name] = true
		}
	}
	if err != nil {
		err = fmt.Errorf("found the line %q, want a JSON object: %w", clip(string(line)), err)
	}
	return err
}
