package swf

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

func looksBatsim(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '{' && (bytes.Contains(text, []byte(`"subtime"`)) || bytes.Contains(text, []byte(`"nb_res"`)))
}

// A batsimProfile describes the work of a job.
type batsimProfile struct {
	Type   string
	Delay  json.RawMessage
	Repeat json.RawMessage
	Seq    json.RawMessage
}

// A batsimJob is a job of a workload.
type batsimJob struct {
	line              int
	ID                json.RawMessage
	Subtime, Walltime json.RawMessage
	Res               json.RawMessage
	Profile           json.RawMessage
}

// readBatsim reads a workload of the simulator Batsim, a JSON object with nb_res, jobs and
// profiles. The run time of a job is known if its profile is a delay, or a sequence of delays.
// The run time of any other job depends on the platform.
func readBatsim(c *conversion, in *bufio.Reader) error {
	var jobs []batsimJob
	var profiles map[string]batsimProfile
	var machine json.Number
	err := c.readJSON(in, func(d *jsonReader, name string) (bool, error) {
		switch name {
		case "nb_res":
			return true, d.Decode(&machine)
		case "profiles":
			return true, d.Decode(&profiles)
		case "jobs":
			return true, d.jobs(func() error {
				var j batsimJob
				if err := d.Decode(&j); err != nil {
					return fmt.Errorf("jobs: %w", err)
				}
				j.line = d.line()
				jobs = append(jobs, j)
				return nil
			})
		}
		return false, nil
	})
	if errors.Is(err, errNoObject) || err == nil && (jobs == nil || profiles == nil) {
		err = errors.New("want a JSON object with jobs and profiles")
	}
	if err != nil {
		return err
	}
	if n, err := machine.Int64(); err == nil && n > 0 {
		c.trace.Header = append(c.trace.Header, fmt.Sprintf("; MaxProcs: %d", n))
	}
	runs := make(map[string]batsimTime)
	for i := range jobs {
		c.trace.Accounting.Lines++
		c.batsim(&jobs[i], profiles, runs)
	}
	return nil
}

// batsim adds a job.
func (c *conversion) batsim(j *batsimJob, profiles map[string]batsimProfile, runs map[string]batsimTime) {
	c.line = j.line
	var v [Fields]float64
	for i := range v {
		v[i] = Unknown
	}
	for _, f := range []struct {
		at   int
		name string
		text json.RawMessage
		must bool
	}{{1, "subtime", j.Subtime, true}, {4, "res", j.Res, true}, {8, "walltime", j.Walltime, false}} {
		if f.text == nil && !f.must {
			continue
		}
		text := plainText(f.text)
		x, ok := number([]byte(text))
		switch {
		case !ok || f.must && x < 0:
			c.skip(NotNumber, f.name, text)
			return
		case x > maxNumber:
			c.skip(OutOfRange, f.name, text)
			return
		case columns[f.at].whole && x != math.Trunc(x):
			c.repair(FractionCut, f.name, text)
			v[f.at] = math.Trunc(x)
		case x > 0 || f.must:
			v[f.at] = x
		}
	}
	profile := plainText(j.Profile)
	run, ok := batsimRun(profiles, runs, profile)
	if !ok {
		c.skip(NoRunTime, "profile", profile)
		return
	}
	v[3], v[7], v[10] = run, v[4], Completed
	var r Record
	r.set(&v)
	c.add(plainText(j.ID), r)
}

// plainText returns a JSON string or number as text.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// batsimRun returns the run time of a profile, if it does not depend on the platform. It
// stores results in runs; a profile that contains itself has no run time.
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
