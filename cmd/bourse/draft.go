package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"bourse/experiments/catalog"

	"github.com/urfave/cli/v2"
)

func newScenarioCommand() *cli.Command {
	c := command(`new [FILE]
ask a few questions and write a scenario file

The command reads one answer per line from standard input. An empty line selects the
default, which is shown in brackets. A question is not asked if its flag is given.
Without FILE, the command prints the scenario. It does not replace an existing file.

   bourse scenario new mine.yaml
   bourse scenario new --name kth --hosts 100x1 --jobs KTH.swf.gz --policies be,cac --repeat 3 kth.yaml`, func(c *cli.Context, _ *none) error { return newScenario(c) })()
	for _, q := range catalog.Questions() {
		c.Flags = append(c.Flags, &cli.StringFlag{Name: q.Name, Usage: "`ANSWER` to: " + q.Ask})
	}
	return c
}

func newScenario(c *cli.Context) error {
	file := c.Args().First()
	if _, err := os.Lstat(file); file != "" && !errors.Is(err, fs.ErrNotExist) {
		return usagef("%s exists; name another file", file)
	}
	in := bufio.NewReader(until(c.Context, io.NopCloser(c.App.Reader), io.EOF))
	var answers []string
	questions := catalog.Questions()
	for i, q := range questions {
		answer, err := answered(c, in, i+1, q, i == len(questions)-1)
		if err != nil {
			return err
		}
		answers = append(answers, answer)
	}
	text, err := catalog.DraftScenario(answers)
	if err != nil {
		return err
	}
	if file == "" {
		_, err = fmt.Fprint(c.App.Writer, text)
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	note(c, "wrote %s; run it with bourse run %s", file, file)
	return nil
}

// answered returns the answer to a question. The answer comes from a flag or, if there is
// none, from the next input line. On a terminal, it repeats the question after an invalid
// answer. At the end of standard input, the last question receives its default answer.
func answered(c *cli.Context, in *bufio.Reader, number int, q catalog.Question, last bool) (string, error) {
	if c.IsSet(q.Name) {
		answer := c.String(q.Name)
		if err := q.Check(answer); err != nil {
			return "", usagef("--%s: %w", q.Name, err)
		}
		return answer, nil
	}
	_, asks := descriptor(c.App.Reader)
	if last && !asks { // on a terminal, the question is printed first
		if _, err := in.Peek(1); err == io.EOF {
			return q.Default, nil
		}
	}
	for {
		fmt.Fprintf(c.App.ErrWriter, "%d. %s [%s]: ", number, q.Ask, q.Default)
		line, err := in.ReadString('\n')
		if !asks {
			fmt.Fprintln(c.App.ErrWriter, strings.TrimSpace(line))
		}
		if err := c.Context.Err(); err != nil {
			return "", err
		}
		switch {
		case err != nil && line == "" && last:
			return q.Default, nil
		case err != nil && line == "":
			return "", usagef("question %d has no answer, because standard input ended; answer it with --%s", number, q.Name)
		}
		answer := strings.TrimSpace(line)
		if answer == "" {
			answer = q.Default
		}
		wrong := q.Check(answer)
		switch {
		case wrong == nil:
			return answer, nil
		case !asks:
			return "", usagef("question %d, %s: %w", number, q.Name, wrong)
		}
		fmt.Fprintln(c.App.ErrWriter, wrong)
	}
}
