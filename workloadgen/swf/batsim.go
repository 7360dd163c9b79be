package swf

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"bourse/workloadgen"
)

func looksBatsim(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '{' && bytes.Contains(text, []byte(`"subtime"`)) || bytes.Contains(text, []byte(`"nb_res"`))
}

// A batsimProfile states what a job does.
type batsimProfile struct {
	Type   string
	Delay  json.RawMessage
	Repeat json.RawMessage
	Seq    json.RawMessage
}

// readBatsim reads a workload of the simulator Batsim, a JSON object with nb_res, jobs and
// profiles. The run time of a job is known if its profile is a delay, or a sequence of delays;
// that of another depends on the platform.
func readBatsim(c *conversion, in *bufio.Reader) error {
	lines := &workloadgen.LineCounter{In: in}
	d := json.NewDecoder(lines)
	acc := &c.trace.Accounting
	acc.records = true
	fail := func(err error) error {
		c.line = lines.At(d.InputOffset())
		if err == io.EOF {
			err = errors.New("the file ends early")
		}
		return err
	}
	type job struct {
		line              int
		ID                json.RawMessage
		Subtime, Walltime json.RawMessage
		Res               json.RawMessage
		Profile           json.RawMessage
	}
	var jobs []job
	var profiles map[string]batsimProfile
	var machine json.Number
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fail(errors.New("want a JSON object with jobs and profiles"))
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fail(err)
		}
		switch key {
		case "nb_res":
			err = d.Decode(&machine)
		case "profiles":
			err = d.Decode(&profiles)
		case "jobs":
			if t, e := d.Token(); e != nil || t != json.Delim('[') {
				return fail(errors.New("jobs: want a list"))
			}
			for d.More() {
				j := job{line: lines.At(d.InputOffset())}
				if err := d.Decode(&j); err != nil {
					return fail(fmt.Errorf("jobs: %w", err))
				}
				j.line = lines.At(d.InputOffset())
				jobs = append(jobs, j)
			}
			_, err = d.Token()
		default:
			var other json.RawMessage
			err = d.Decode(&other)
		}
		if err != nil {
			return fail(err)
		}
	}
	if _, err := d.Token(); err != nil {
		return fail(err)
	}
	if jobs == nil || profiles == nil {
		return fail(errors.New("want a JSON object with jobs and profiles"))
	}
	if n, err := machine.Int64(); err == nil && n > 0 {
		c.trace.Header = append(c.trace.Header, fmt.Sprintf("; MaxProcs: %d", n))
	}
	runs := make(map[string]batsimTime)
	for _, j := range jobs {
		c.line = j.line
		acc.Lines++
		v := [Fields]float64{}
		for i := range v {
			v[i] = Unknown
		}
		good := true
		for _, f := range []struct {
			at   int
			name string
			text json.RawMessage
			must bool
		}{{1, "subtime", j.Subtime, true}, {4, "res", j.Res, true}, {8, "walltime", j.Walltime, false}} {
			if f.text == nil && !f.must || !good {
				continue
			}
			text := plainText(f.text)
			x, ok := number([]byte(text))
			switch {
			case !ok || f.must && x < 0:
				c.skip(NotNumber, f.name, text)
				good = false
			case x > maxNumber:
				c.skip(OutOfRange, f.name, text)
				good = false
			case x > 0 || f.must:
				v[f.at] = x
			}
		}
		if !good {
			continue
		}
		profile := plainText(j.Profile)
		run, ok := batsimRun(profiles, runs, profile)
		if !ok {
			c.skip(NoRunTime, "profile", profile)
			continue
		}
		v[3], v[7], v[10] = run, v[4], Completed
		var r Record
		r.set(&v)
		c.add(plainText(j.ID), r, false)
	}
	return nil
}

// plainText returns a JSON string or number as text.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// batsimRun returns the run time of a profile, if it does not depend on the platform. It keeps
// what it finds in runs, where a profile that contains itself has no run time.
func batsimRun(profiles map[string]batsimProfile, runs map[string]batsimTime, name string) (float64, bool) {
	if r, found := runs[name]; found {
		return r.seconds, r.known
	}
	runs[name] = batsimTime{}
	p := profiles[name]
	seconds, known := 0.0, false
	switch p.Type {
	case "delay":
		seconds, known = number(p.Delay)
	case "composed", "sequential_composition":
		var parts []string
		known = json.Unmarshal(p.Seq, &parts) == nil
		for _, part := range parts {
			x, ok := batsimRun(profiles, runs, part)
			seconds, known = seconds+x, known && ok
		}
		if p.Repeat != nil {
			n, ok := number(p.Repeat)
			seconds, known = seconds*n, known && ok
		}
	}
	runs[name] = batsimTime{seconds, known && seconds >= 0 && seconds <= maxNumber}
	return runs[name].seconds, runs[name].known
}

// batsimTime is a run time, if it is known.
type batsimTime struct {
	seconds float64
	known   bool
}
