package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"bourse/bank/whole"
	"bourse/contracts/admission/script"
	"bourse/experiments/author"
	"bourse/experiments/recovered"
	"bourse/experiments/report"

	"github.com/urfave/cli/v2"
)

var policyCommand = group(`policy
write and check your own policy

   bourse policy new mine
   bourse policy check mine.star`, policyNewCommand, policyCheckCommand, policyTestCommand, policyAskCommand)

type policyNewOptions struct {
	From                 string `doc:"start with a copy of the example {POLICY}: be, sac, cac, rac or fcfs" default:"be"`
	In                   string `doc:"write the policy in {LANGUAGE}: starlark, python or perl" default:"starlark"`
	jsonOption[[]string] `yaml:",inline"`
}

var policyNewCommand = command(`new NAME
write a working policy, and a scenario that runs it

The command writes the policy NAME.star (or NAME.py or NAME.pl) and the scenario
NAME.yaml, which compares the policy with built-in policies. It does not replace
existing files.

   bourse policy new mine
   bourse policy new mine --from cac
   bourse policy new mine --in python`, func(c *cli.Context, o *policyNewOptions) error {
	files, err := author.New(c.Args().First(), o.From, o.In)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("Wrote %s and %s. Edit the policy, then run it with: bourse run %s", files[0], files[1], files[1])
	return show(c, report.Said(text, files), nil)
})

type policyCheckOptions struct {
	Seed                     uint64 `doc:"draw the markets of {SEED}" default:"1"`
	Markets                  int    `doc:"run the policy in {N} random markets" validate:"min=1,max=100000" default:"300"`
	jsonOption[author.Check] `yaml:",inline"`
}

var policyCheckCommand = command(`check [FILE] [-- COMMAND...]
check a policy's decisions in random markets

The command checks that each answer is valid. It also checks that the policy gives the same answer
if the question is repeated, or asked in a copy of the market. It prints the verdicts, and compares
the time per decision with the times of built-in policies. Memory is limited to 1 GiB.

   bourse policy check mine.star
   bourse policy check -- python3 mine.py`, func(c *cli.Context, o *policyCheckOptions) error {
	s, _, err := sourceOf(c, 0)
	if err != nil || !limited() {
		return confined(c, err)
	}
	r, err := author.Checked(c.Context, s, o.Seed, o.Markets)
	if err != nil {
		return err
	}
	return show(c, r.Document(), nil)
})

type policyTestOptions struct {
	jsonOption[[]script.Result] `yaml:",inline"`
}

var policyTestCommand = command(`test FILE
run the tests in a script

The command runs each function whose name begins with test_. Such a function may call request(...)
and market(...), which return arguments for decide, and equal(got, want). Values that a test omits
have defaults. market(hosts=[{}]) has one idle host with one processor, and market(hosts=[{"on":
[{}]}], contracts=[{}]) has one host that runs the task of a contract. The exit status is 1 if a
test fails.

   bourse policy test mine.star`, func(c *cli.Context, _ *policyTestOptions) error {
	s, _, err := sourceOf(c, 0)
	if err == nil && s.File == "" {
		err = usagef("'bourse policy test' is only for scripts; for a program, use 'bourse policy check'")
	}
	if err != nil || !limited() {
		return confined(c, err)
	}
	all, err := author.Tests(c.Context, s.File, func(text string) { fmt.Fprintln(c.App.ErrWriter, text) })
	if err != nil {
		return err
	}
	text, failed := "", 0
	for _, r := range all {
		if text += r.Test + ": passed\n"; r.Failure != "" {
			text = strings.TrimSuffix(text, "passed\n") + r.Failure + "\n"
			failed++
		}
	}
	if err := show(c, report.Said(text, all), nil); err != nil || failed == 0 {
		return err
	}
	return fmt.Errorf("%d of %d tests failed", failed, len(all))
})

type policyAskOptions struct {
	jsonOption[author.Answered] `yaml:",inline"`
}

var policyAskCommand = command(`ask [FILE] QUESTION [-- COMMAND...]
answer a saved question again

If a policy fails to answer a question, the run saves the question. This command prints the
policy's decision as the ledger would record it. If a script prints text, the command writes it
to standard error.

   bourse policy ask mine.star mine-20.ask.json
   bourse policy ask mine-20.ask.json -- python3 mine.py`, func(c *cli.Context, _ *policyAskOptions) error {
	s, rest, err := sourceOf(c, 1)
	if err != nil || !limited() {
		return confined(c, err)
	}
	text, err := whole.Read(rest[0], 64<<20)
	if err != nil {
		return err
	}
	a, err := author.Ask(c.Context, s, text, func(text string) { fmt.Fprintln(c.App.ErrWriter, text) })
	if err != nil {
		return err
	}
	return show(c, report.Said(string(a.Decision), *a), nil)
})

// sourceOf returns the policy named by the arguments, either a file or a command after
// "--". It also returns n more arguments.
func sourceOf(c *cli.Context, n int) (s author.Source, rest []string, err error) {
	args := c.Args().Slice()
	for i, word := range os.Args {
		if word == "--" {
			s.Command = os.Args[i+1:]
			args = args[:len(args)-len(s.Command)]
			break
		}
	}
	if len(s.Command) == 0 && len(args) > 0 {
		s.File, args = args[0], args[1:]
	}
	if len(args) != n || s.File == "" && len(s.Command) == 0 {
		return s, nil, usagef("found %q, want %s; see '%s --help'", strings.Join(c.Args().Slice(), " "), c.Command.ArgsUsage, c.Command.HelpName)
	}
	return s, args, nil
}

// child is an environment variable. It is set in the process whose memory is limited.
const child = "BOURSE_POLICY_CHILD"

// limited reports whether the memory of this process is limited or cannot be limited. A limited
// process ends if a call of the policy does not.
func limited() bool { return os.Getenv(child) != "" && limitMemory() || !canLimit }

// confined repeats the command in a process with limited memory. It does nothing if err is
// not nil.
func confined(c *cli.Context, err error) error {
	if err != nil {
		return err
	}
	return limitedRun(c, os.Args[1:], nil, c.App.Writer)
}

// A beyondLimit is the error of a policy that has exceeded a limit.
type beyondLimit struct{ of, sign, text string }

// Error states which limit the policy has exceeded.
func (b *beyondLimit) Error() string { return b.text }

// limits lists the limits of a limited process. If the process exceeds a limit, its standard
// error contains the sign of the limit.
var limits = []beyondLimit{
	{"time", recovered.Endless, "a call to the policy took more than 10 s and could not be stopped"},
	{"memory", "out of memory", "the policy used more than 1 GiB of memory"},
	{"memory", "cannot allocate memory", "the policy used more than 1 GiB of memory"},
}

// limitedRun runs this program with args in a process with limited memory.
func limitedRun(c *cli.Context, args []string, in io.Reader, out io.Writer) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	again := exec.CommandContext(c.Context, exe, args...)
	again.Args[0], again.Env = os.Args[0], append(os.Environ(), child+"=1")
	var said bytes.Buffer
	again.Stdin, again.Stdout, again.Stderr = in, out, &said
	err = again.Run()
	for i := range limits {
		if strings.Contains(said.String(), limits[i].sign) {
			return fmt.Errorf("%s: %w", c.Command.HelpName, &limits[i])
		}
	}
	_, _ = c.App.ErrWriter.Write(said.Bytes()) // forward the messages of the process
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return exited(max(1, ended.ExitCode()))
	}
	return err
}
