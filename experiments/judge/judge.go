// Package judge decides whether one policy, the candidate, is better than another policy, the
// champion. It is designed so that an automated search for candidates gains nothing from
// chance or from cheating.
//
// Both policies run on the same jobs and random numbers. The author of a candidate may screen it
// on public seeds any number of times ([Judging.Screen]). The candidate is judged on seeds that
// are derived from a secret ([Judging.Seed]), and the number of judgements is limited ([Book]).
// The study is a scenario with the settings in its field judge.
//
// The package does not depend on the rules of the policies or on how they are confined.
package judge

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"bourse/contracts/admission/outside"
	"bourse/experiments"
	"bourse/experiments/author"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/scenario"
)

// A Source states where a policy comes from: a label in the study, a built-in policy, a
// script, or a program.
type Source struct {
	Name string
	author.Source
}

// An Ask is a request to judge a policy.
type Ask struct {
	Study               string // path of the study's file
	Candidate, Champion Source
	Unconfined          bool     // whether a program runs like any other process of this user
	Secrets             []string // files that the candidate must not read, in addition to the study and its judgements
}

// These are the labels of the two policies.
const (
	champion  = "champion"
	candidate = "candidate"
)

// A Judging compares two policies in a study.
type Judging struct {
	Settings *scenario.Judge
	Hashes   Hashes

	confinement string // sandbox of the candidate
	experiment  scenario.Experiment
	prepared    *experiments.Prepared
	metric      metrics.Metric
	tally       []tally // values of each configuration
	steps       uint64  // largest number of steps in one decision of the candidate
}

// Hashes contains SHA-256 hashes in hexadecimal.
type Hashes struct {
	Study     string `json:"study" doc:"hash of the study's file"`
	Candidate string `json:"candidate" doc:"hash of the candidate: its file, its command and files, or its name and options"`
	Champion  string `json:"champion"`
}

// New returns a comparison. New loads the policies but does not run them.
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
		var files []string
		c := &all[i][0].Admission[0]
		if files, j.confinement, err = origin(c); err == nil && i == 1 {
			err = ask.separate(files)
		}
		if err == nil {
			*[]*string{&j.Hashes.Champion, &j.Hashes.Candidate}[i], err = s.hash(c, files)
		}
		if err != nil {
			return nil, misuse.Of(err)
		}
	}
	if ask.Unconfined {
		j.confinement = "none"
	} else if j.confinement == "none" {
		return nil, misuse.Errorf("%s: found a candidate that is a program without confined: true, want confined: true, or --unconfined", ask.Study)
	}
	x := &j.experiment
	if j.Settings = x.Judge; j.Settings == nil {
		return nil, misuse.Errorf("%s: found no field judge, want a field judge that names the metric to compare", ask.Study)
	}
	if j.metric, err = metrics.Table().New(j.Settings.Metric, nil); err == nil && j.metric.Less {
		err = fmt.Errorf("judge.metric: found %s, want a metric of which higher values are better", j.metric.Name)
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

// Judged returns the path of the book of a study.
func Judged(study string) string { return filepath.Join(filepath.Dir(study), "judged.jsonl") }

// origin returns the files that contain a policy, and how the policy is confined.
func origin(c *scenario.Choice) (files []string, confinement string, err error) {
	switch c.Name {
	case "script":
		return []string{fmt.Sprint(c.Options()["file"])}, "script", nil
	case "program":
		p := outside.Program{Timeout: 1}
		if err = c.Decode(&p); p.Confined {
			return p.Paths(), "program", err
		}
		return p.Paths(), "none", err
	}
	return nil, "built-in", nil
}

// separate returns an error if a file of the candidate, or the target of a link, is the study,
// its judgements or a secret.
func (a *Ask) separate(files []string) error {
	for _, name := range files {
		is, err := os.Stat(name)
		if err != nil {
			continue
		}
		for _, other := range append(slices.Clone(a.Secrets), a.Study, Judged(a.Study)) {
			if not, err := os.Stat(other); err == nil && os.SameFile(is, not) {
				return misuse.Errorf("found %s among the candidate's files, want other files, because a candidate must not read %s", name, other)
			}
		}
	}
	return nil
}

// prepare loads the policies for n replications of a seed and starts the policies that are programs.
func (j *Judging) prepare(seed uint64, n int) (err error) {
	j.experiment.Seed, j.experiment.Replications = seed, max(2, n)
	if j.prepared, err = experiments.Prepare(&j.experiment); err != nil {
		return misuse.Of(err)
	}
	if alike := j.prepared.Alike(); len(alike) > 0 {
		return misuse.Errorf("configuration %s: found the same jobs on the same hosts in every replication, want jobs generated by a model", alike[0])
	}
	return nil
}

// in returns the study with s as the first policy of each configuration.
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

// hash returns a hash that identifies s. The argument c is the entry for s in the study. The hash
// of the files does not depend on the folder.
func (s Source) hash(c *scenario.Choice, files []string) (string, error) {
	options := c.Options()
	delete(options, "file")
	delete(options, "folder")
	of := map[string]any{"name": c.Name, "options": options}
	if c.Name == "program" && s.Name == "" {
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

// Seed returns the seed that is derived from a secret. It returns an error if the study registers a
// different secret. The seed is the same for all candidates of an epoch.
func (j *Judging) Seed(secret []byte, epoch int) (uint64, error) {
	if got, want := "sha256:"+sum(secret), j.Settings.Sealed; got != want {
		return 0, misuse.Errorf("sealed: found a secret with the hash %s, want the secret registered in the study, judge.sealed: %s", got, cmp.Or(want, "none"))
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "bourse judge 1\n%s\n%d\n", j.Hashes.Study, epoch)
	return binary.BigEndian.Uint64(mac.Sum(nil)), nil
}
