package main

import (
	"embed"
	"fmt"
	"strings"

	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

//go:embed docs/*.md
var docs embed.FS

// A docPage is one page of the documentation.
type docPage struct {
	Topic string `json:"topic"`
	Title string `json:"title"`
	Text  string `json:"text,omitempty" doc:"Markdown; of the page that was asked for"`
}

// docPages returns all pages, by topic.
func docPages() (pages []docPage) {
	all, _ := docs.ReadDir("docs")
	for _, file := range all {
		text, _ := docs.ReadFile("docs/" + file.Name())
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		pages = append(pages, docPage{strings.TrimSuffix(file.Name(), ".md"), title, string(text)})
	}
	return pages
}

func docsCommand() *cli.Command {
	return &cli.Command{
		Name:      "docs",
		Usage:     "print a page of the documentation, or list them",
		ArgsUsage: "[TOPIC]",
		Description: `   bourse docs
   bourse docs backup`,
		Flags:  []cli.Flag{jsonFlag[[]docPage]()},
		Action: docsAction,
	}
}

func docsAction(c *cli.Context) error {
	pages := docPages()
	if topic := c.Args().First(); topic != "" {
		var topics []string
		for _, p := range pages {
			if topics = append(topics, p.Topic); p.Topic == topic {
				if c.Bool("json") {
					return printJSON(c, []docPage{p})
				}
				_, err := fmt.Fprint(c.App.Writer, p.Text)
				return err
			}
		}
		return usagef("TOPIC: found %q, %s", topic, scenario.OneOf(topic, topics))
	}
	for i := range pages {
		pages[i].Text = ""
	}
	if c.Bool("json") {
		return printJSON(c, pages)
	}
	for _, p := range pages {
		if _, err := fmt.Fprintf(c.App.Writer, "%-12s %s\n", p.Topic, p.Title); err != nil {
			return err
		}
	}
	return nil
}
