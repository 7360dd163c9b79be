package main

import (
	"embed"
	"fmt"
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
	Group string `json:"group" doc:"under which docs/README.md lists it"`
	Topic string `json:"topic"`
	Title string `json:"title"`
	Text  string `json:"text,omitempty" doc:"Markdown; of the page that was asked for"`
}

// docLine is a line of docs/README.md: a heading of a group, or a page of one.
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

func docsCommand() *cli.Command {
	return &cli.Command{
		Name:      "docs",
		Usage:     "print a page of the documentation, or list them",
		ArgsUsage: "[TOPIC]",
		Description: `   bourse docs
   bourse docs concepts | less
   bourse docs backup --markdown > backup.md`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "markdown", Usage: "print the page as it is written"},
			jsonFlag[[]docPage](),
		},
		Action: docsAction,
	}
}

func docsAction(c *cli.Context) error {
	pages := docPages()
	if topic := c.Args().First(); topic != "" {
		return printPage(c, pages, topic)
	}
	for i := range pages {
		pages[i].Text = ""
	}
	if c.Bool("json") {
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

// printPage prints the page of that topic.
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
	_, err := fmt.Fprint(c.App.Writer, text)
	return err
}
