// Package judge decides whether a policy, the candidate, is better than another, the champion,
// such that an automated search for candidates cannot gain by chance or by cheating.
//
// Both policies run on the same jobs and random numbers. A candidate is screened on public
// seeds as often as its author likes ([Judging.Screen]), and judged on seeds that follow from a
// secret ([Judging.Seed]), a limited number of times ([Book]). The study, a scenario, has the
// settings in its field judge.
//
// The package is independent of the policies' rules and of how they are confined.
package judge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"

	"bourse/experiments"
	"bourse/experiments/author"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/scenario"
)

// A Source is where a policy comes from: a label in the study or a built-in policy, a script,
// or a program.
type Source struct {
	Name string
	author.Source
}

// An Ask is a question to the judge.
type Ask struct {
	Study               string // path
	Candidate, Champion Source
	Unconfined          bool // a program runs as any process of this user
}

// Confinement describes how the candidate is confined.
func (a *Ask) Confinement() string {
	switch {
	case a.Unconfined:
		return "none"
	case a.Candidate.File != "":
		return "script"
	case a.Candidate.Name != "":
		return "built-in"
	}
	return "program"
}

// Labels of the two policies.
const (
	champion  = "champion"
	candidate = "candidate"
)

// A Judging compares two policies in a study.
type Judging struct {
	Settings *scenario.Judge
	Hashes   Hashes

	experiment scenario.Experiment
	prepared   *experiments.Prepared
	metric     metrics.Metric
	tally      []tally // by configuration
	steps      uint64  // most of a decision of the candidate
}

// Hashes are SHA-256 in hexadecimal.
type Hashes struct {
	Study     string `json:"study" doc:"of the study's file"`
	Candidate string `json:"candidate" doc:"of the candidate: its file, its command and files, or its name and options"`
	Champion  string `json:"champion"`
}

// New returns a comparison. It reads the policies, but does not run them.
func New(ask Ask) (*Judging, error) {
	text, err := os.ReadFile(ask.Study)
	if err != nil {
		return nil, misuse.Of(err)
	}
	j := &Judging{Hashes: Hashes{Study: sum(text)}}
	var all [2][]scenario.Configuration
	for i, s := range []Source{ask.Champion, ask.Candidate} {
		if j.experiment, all[i], err = s.in(ask.Study, text, !ask.Unconfined); err != nil {
			return nil, misuse.Of(err)
		}
		*[]*string{&j.Hashes.Champion, &j.Hashes.Candidate}[i], err = s.hash(&all[i][0].Admission[0])
		if err != nil {
			return nil, misuse.Of(err)
		}
	}
	x := &j.experiment
	if j.Settings = x.Judge; j.Settings == nil {
		return nil, misuse.Errorf("%s: found no field judge, want one with the metric to compare", ask.Study)
	}
	if j.metric, err = metrics.Table().New(j.Settings.Metric, nil); err == nil && j.metric.Less {
		err = fmt.Errorf("judge.metric: found %s, of which less is better, want one of which more is", j.metric.Name)
	}
	if err != nil {
		return nil, misuse.Of(err)
	}
	x.Sweep, x.Until, x.Configurations = nil, nil, all[0]
	for i := range x.Configurations {
		policies := []scenario.Choice{all[0][i].Admission[0], all[1][i].Admission[0]}
		policies[0].Label, policies[1].Label = champion, candidate
		x.Configurations[i].Admission = policies
	}
	x.Figure = &scenario.Figure{Metrics: []string{j.metric.Name}}
	j.tally = make([]tally, len(x.Configurations))
	return j, nil
}

// prepare loads the policies and starts those that are programs, to run n replications of a seed.
func (j *Judging) prepare(seed uint64, n int) (err error) {
	j.experiment.Seed, j.experiment.Replications = seed, max(2, n)
	if j.prepared, err = experiments.Prepare(&j.experiment); err != nil {
		return misuse.Of(err)
	}
	if alike := j.prepared.Alike(); len(alike) > 0 {
		return misuse.Errorf("configuration %s: every replication has the same jobs on the same hosts, want jobs that a model draws", alike[0])
	}
	return nil
}

// in returns the study and its configurations with s as their first policy.
func (s Source) in(study string, text []byte, confined bool) (e scenario.Experiment, all []scenario.Configuration, err error) {
	known, sets := experiments.Known(), []string(nil)
	if known.Policies = []string{s.Name}; s.Name == "" {
		known.Policies, sets = nil, []string{"admission=[" + s.Choice(confined) + "]"}
	}
	if e, err = scenario.Parse(study, text, known, sets...); err != nil {
		return e, nil, err
	}
	e = e.Expanded()
	return e, e.Configurations, nil
}

// hash identifies s, whose choice in the study is c. The place of a file does not matter.
func (s Source) hash(c *scenario.Choice) (string, error) {
	of := map[string]any{"name": c.Name, "options": c.Options()}
	files, options := s.Files(), c.Options()
	if c.Name == "script" {
		files = []string{fmt.Sprint(options["file"])}
		maps.DeleteFunc(options, func(k string, _ any) bool { return k == "file" })
		of["options"] = options
	} else if s.Name == "" {
		of = map[string]any{"command": s.Command}
	}
	var hashes []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		hashes = append(hashes, sum(text))
	}
	of["files"] = hashes
	text, err := json.Marshal(of)
	return sum(text), err
}

// sum returns the SHA-256 of text.
func sum(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// Seed returns the seed that follows from a secret, which must be the one registered in the
// study. It is the same for all candidates of an epoch.
func (j *Judging) Seed(secret []byte, epoch int) (uint64, error) {
	if got, want := "sha256:"+sum(secret), j.Settings.Sealed; got != want {
		return 0, misuse.Errorf("sealed: found a secret with the hash %s, want the one registered in the study, judge.sealed: %s", got, orNone(want))
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "bourse judge 1\n%s\n%d\n", j.Hashes.Study, epoch)
	return binary.BigEndian.Uint64(mac.Sum(nil)), nil
}

func orNone(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return "none"
	}
	return s
}
