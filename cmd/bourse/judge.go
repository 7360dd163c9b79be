package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"bourse/bank/keys"
	"bourse/bank/whole"
	"bourse/experiments"
	"bourse/experiments/judge"
	"bourse/experiments/misuse"
	"bourse/experiments/report"

	"github.com/urfave/cli/v2"
)

type judgeOptions struct {
	Against                  string `doc:"compare the candidate with the champion {POLICY}: a label, a built-in policy or a script"`
	On                       string `doc:"compare the policies in {STUDY}, a scenario file with the field judge"`
	Screen                   bool   `doc:"run public seeds, and print details for the candidate's author"`
	Sealed                   string `doc:"run the seeds derived from the secret in {FILE}, and record the verdict"`
	Key                      string `doc:"sign the record with the private key in {FILE}, created by 'bourse bank key'"`
	Epoch                    int    `default:"1" validate:"min=1" doc:"use epoch {N}; each epoch is a series of judgements with its own seeds"`
	Verify                   string `doc:"check the record in {FILE} and, with --sealed, repeat its judgement"`
	By                       string `doc:"check the signature with the referee's public key in {FILE}"`
	Unconfined               bool   `doc:"run the candidate without a sandbox; the record is then not signed"`
	Workers                  int    `default:"cpus" validate:"min=1" doc:"run {N} replications in parallel; the results do not depend on N"`
	jsonOption[judge.Report] `yaml:",inline"`
}

var judgeCommand = command(`judge [CANDIDATE] [-- COMMAND...]
decide whether a policy is better than another

The command runs CANDIDATE and the champion on the same jobs and random numbers. CANDIDATE is a
label in the study, a built-in policy or a script. With --screen, the command prints the difference
on public seeds, and the jobs that lost the most. With --sealed, it prints a verdict: better, worse,
alike or undecided. The verdict is void if the candidate fails a gate. The study's field judge
defines the metric, the margin, the gates and the number of judgements. If a candidate was judged
before, the command prints the existing record.

If the candidate is a program, it runs in its own namespaces and under Landlock, and can read
only the files named in its command. A script can use at most 1 GiB of memory.

   bourse judge mine.star --against cac --on study.yaml --screen
   bourse judge mine.star --against cac --on study.yaml --sealed secret --key referee.key
   bourse judge --against cac --on study.yaml --screen -- python3 mine.py
   bourse judge --verify record.json --by referee.pub`, func(c *cli.Context, o *judgeOptions) error {
	var record *judge.Signed
	if o.Verify != "" {
		var err error
		if record, err = verified(o); err != nil || o.Sealed == "" {
			return errors.Join(err, showRecord(c, record, err))
		}
		o.Epoch = record.Record.Epoch
	}
	if o.Screen == (o.Sealed != "") || o.Against == "" || o.On == "" {
		return usagef("judge: want the flags --against, --on, and either --screen or --sealed")
	}
	s, _, err := sourceOf(c, 0)
	if err != nil {
		return err
	}
	ask := judge.Ask{Study: o.On, Candidate: judged(s.File), Champion: judged(o.Against), Unconfined: o.Unconfined, Secrets: []string{o.Sealed, o.Key}}
	ask.Candidate.Command = s.Command
	j, err := judge.New(ask)
	if err != nil {
		return err
	}
	opts := experiments.Options{Workers: o.Workers}
	if os.Getenv(child) != "" {
		return judgeHere(c, j, opts, o.Screen)
	}
	var out judge.Outcome
	var seed uint64
	if o.Screen {
		var f judge.Feedback
		if err := judgeBelow(c, j, opts, nil, &f, o.Unconfined); err != nil {
			return err
		}
		return show(c, judge.Report{Feedback: &f}.Document(), nil)
	}
	secret, err := whole.Read(o.Sealed, 1<<20)
	if err != nil {
		return err
	}
	if seed, err = j.Seed(secret, o.Epoch); err != nil {
		return err
	}
	book, private, public := judge.Judged(o.On), "", ""
	if record == nil {
		if !o.Unconfined {
			if private, err = privateKey(c, "key"); err == nil {
				public, err = keys.Of(private)
			}
			if err != nil {
				return err
			}
		}
		b, err := judge.Open(book)
		if err != nil {
			return err
		}
		if record, err = b.Known(j, o.Epoch, public); err != nil || record != nil {
			return errors.Join(err, showRecord(c, record, err))
		}
	}
	if err := judgeBelow(c, j, opts, &seed, &out, o.Unconfined); err != nil {
		return err
	}
	if again, err := judge.New(ask); err != nil || again.Hashes != j.Hashes {
		return errors.Join(err, errors.New("a policy or the study changed during the judgement"))
	}
	if record != nil {
		if err := record.Repeats(j, out); err != nil {
			return err
		}
		return showRecord(c, record, nil)
	}
	record, err = judge.Add(book, j, o.Epoch, out, private)
	return errors.Join(err, showRecord(c, record, err))
})

// judged returns the policy that an argument names.
func judged(name string) (s judge.Source) {
	if s.Name = name; strings.HasSuffix(name, ".star") {
		s.Name, s.File = "", name
	}
	return s
}

// showRecord prints a record, unless err is set.
func showRecord(c *cli.Context, s *judge.Signed, err error) error {
	if err != nil {
		return nil
	}
	return show(c, judge.Report{Signed: s}.Document(), nil)
}

// verified returns the record of --verify, which the key of --by must have signed.
func verified(o *judgeOptions) (*judge.Signed, error) {
	if o.By == "" {
		return nil, usagef("--by is missing; give the public key of the referee")
	}
	text, err := whole.Read(o.Verify, 1<<20)
	if err != nil {
		return nil, err
	}
	public, err := whole.Read(o.By, 1<<12)
	if err != nil {
		return nil, err
	}
	return judge.Verify(text, string(public), func(s *judge.Signed) []byte {
		var b bytes.Buffer
		_ = report.JSON[judge.Report]().Write(&b, judge.Report{Signed: s}) // writing to a buffer cannot fail
		return b.Bytes()
	})
}

// judgeBelow judges in a child process with limited memory, which does not know the secret. It
// parses the output of that process into v. A nil seed requests a screening.
func judgeBelow(c *cli.Context, j *judge.Judging, opts experiments.Options, seed *uint64, v any, unconfined bool) error {
	var in, out bytes.Buffer
	if !canLimit && !unconfined {
		return misuse.Errorf("this system cannot limit the memory of a process; use --unconfined")
	}
	if seed != nil {
		fmt.Fprint(&in, *seed)
	}
	plain := slices.Clone(os.Args[1:]) // arguments without --json
	if at := slices.Index(plain, "--json"); at >= 0 && !slices.Contains(plain[:at], "--") {
		plain = slices.Delete(plain, at, at+1)
	}
	if unconfined {
		was := *c.App
		defer func() { *c.App = was }()
		c.App.Reader, c.App.Writer = &in, &out
		if err := judgeHere(c, j, opts, seed == nil); err != nil {
			return err
		}
	} else if err := limitedRun(c, plain, &in, &out); err != nil {
		var beyond *beyondLimit
		if !errors.As(err, &beyond) {
			return err
		}
		switch v := v.(type) {
		case *judge.Outcome:
			*v = judge.Outcome{Verdict: judge.Void, Gate: beyond.of}
		case *judge.Feedback:
			*v = j.Beyond(beyond.of, err)
		}
		return nil
	}
	return json.Unmarshal(out.Bytes(), v)
}

// judgeHere judges in this process. It reads a sealed seed from standard input.
func judgeHere(c *cli.Context, j *judge.Judging, opts experiments.Options, screen bool) error {
	var v any
	var err error
	if os.Getenv(child) != "" && !limited() {
		return errors.New("the memory of this process cannot be limited")
	}
	if screen {
		v, err = j.Screen(c.Context, opts)
	} else {
		var seed uint64
		if _, err = fmt.Fscan(c.App.Reader, &seed); err == nil {
			v, err = j.Score(c.Context, seed, opts)
		}
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(c.App.Writer).Encode(v)
}
