package main

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

//go:embed docs/*.md
var docs embed.FS

// A docPage is one page of the documentation.
type docPage struct {
	Group string `json:"group" doc:"section of docs/README.md that lists the page"`
	Topic string `json:"topic"`
	Title string `json:"title"`
	Text  string `json:"text,omitempty" doc:"the requested page, as Markdown"`
}

// docLine matches one line of docs/README.md, either the heading of a group or a page in a
// group.
var docLine = regexp.MustCompile(`(?m)^## (.*)$|^- \[.*\]\((.*)\.md\)`)

// docPages returns all pages, in the order in which docs/README.md lists them.
func docPages() (pages []docPage) {
	index, _ := docs.ReadFile("docs/README.md")
	group := ""
	for _, line := range docLine.FindAllStringSubmatch(string(index), -1) {
		if line[1] != "" {
			group = line[1]
			continue
		}
		text, _ := docs.ReadFile("docs/" + line[2] + ".md")
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		pages = append(pages, docPage{group, line[2], title, string(text)})
	}
	return pages
}

var docsCommand = command(`docs [TOPIC]
print, list or search the pages of the documentation

On a terminal, the command shows the page with $PAGER, or with less if PAGER is not set.

   bourse docs
   bourse docs concepts
   bourse docs --search 'exit status'
   bourse docs backup --markdown > backup.md`, docsAction)

type docsOptions struct {
	Search                string `doc:"list the pages that contain {WORDS}, with the matching lines"`
	Markdown              bool   `doc:"print the page as Markdown"`
	jsonOption[[]docPage] `yaml:",inline"`
}

func docsAction(c *cli.Context, o *docsOptions) error {
	pages := docPages()
	if o.Search != "" {
		if pages = searched(pages, o.Search); len(pages) == 0 {
			return usagef("--search: no page contains %q", o.Search)
		}
	}
	if topic := c.Args().First(); topic != "" && o.Search == "" {
		return printPage(c, pages, topic)
	}
	if o.Search != "" && !o.JSON {
		text := ""
		for _, p := range pages {
			text += fmt.Sprintf("%s: %s\n%s", p.Topic, p.Title, p.Text)
		}
		return paged(c, text)
	}
	for i := range pages {
		pages[i].Text = ""
	}
	if o.JSON {
		return printJSON(c, pages)
	}
	group := ""
	for _, p := range pages {
		if p.Group != group {
			if group != "" {
				fmt.Fprintln(c.App.Writer)
			}
			group = p.Group
			fmt.Fprintln(c.App.Writer, group)
		}
		if _, err := fmt.Fprintf(c.App.Writer, "  %-14s %s\n", p.Topic, p.Title); err != nil {
			return err
		}
	}
	return nil
}

// printPage prints the page on the given topic.
func printPage(c *cli.Context, pages []docPage, topic string) error {
	i := slices.IndexFunc(pages, func(p docPage) bool { return p.Topic == topic })
	if i < 0 {
		var topics []string
		for _, p := range pages {
			topics = append(topics, p.Topic)
		}
		return usagef("TOPIC: %s", scenario.Unknown(topic, topics))
	}
	if c.Bool("json") {
		return printJSON(c, []docPage{pages[i]})
	}
	text := pages[i].Text
	if !c.Bool("markdown") {
		text = readable(text, terminal(c).Width)
	}
	return paged(c, text)
}

// searched returns the pages that contain the words, ignoring case. The text of each is the
// matching lines.
func searched(pages []docPage, words string) (found []docPage) {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(words)) }
	for _, p := range pages {
		lines, in := "", has(p.Topic)
		for line := range strings.Lines(p.Text) {
			if has(line) {
				in, lines = true, lines+"  "+strings.TrimSpace(line)+"\n"
			}
		}
		if p.Text = lines; in {
			found = append(found, p)
		}
	}
	return found
}

// paged prints text. paged prints text. On a terminal it uses the user's pager.
func paged(c *cli.Context, text string) error {
	if out, ok := c.App.Writer.(*os.File); ok && terminal(c).Width > 0 {
		words := strings.Fields(cmp.Or(os.Getenv("PAGER"), "less -FRX"))
		pager := exec.CommandContext(c.Context, words[0], words[1:]...)
		pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(text), out, c.App.ErrWriter
		if pager.Err == nil {
			return pager.Run()
		}
	}
	_, err := io.WriteString(c.App.Writer, text)
	return err
}
