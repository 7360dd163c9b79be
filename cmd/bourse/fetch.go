package main

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"bourse/experiments/live/client"

	"github.com/urfave/cli/v2"
)

// fetchedShown is the JSON form of copied files.
type fetchedShown struct {
	Files []client.Fetched `json:"files" doc:"files, folders and symbolic links, in order"`
}

var fetchCommand = command(`fetch CONTRACT [PATH]...
copy the files of a program

The command copies the program's whole folder, or only the named files and folders. The host stores
them for an hour after the contract has ended. The copy contains files, folders and symbolic links.
It skips links that lead out of the folder and, without --force, files that already exist. It prints
the names of the skipped items, and the exit status is then 1.

   bourse job fetch 17
   bourse job fetch 17 --node 1 --to frames out/frame7.png`, fetchAction)

type fetchOptions struct {
	Node                     int    `doc:"node {N}, from 0"`
	To                       string `default:"." doc:"write to {DIR}; a missing directory is created"`
	Force                    bool   `doc:"replace existing files"`
	homeOption               `yaml:",inline"`
	jsonOption[fetchedShown] `yaml:",inline"`
}

func fetchAction(c *cli.Context, o *fetchOptions) error {
	id, err := contractID(c.Args().First())
	if err != nil {
		return err
	}
	var paths []string
	for _, p := range c.Args().Tail() {
		if !filepath.IsLocal(p) {
			return usagef("PATH: found %q, want a path in the program's folder, such as out/frame7.png", p)
		}
		paths = append(paths, path.Clean(p))
	}
	return withMarket(c, func(m *client.Client) error {
		all, err := m.Fetch(c.Context, id, o.Node, o.To, paths, o.Force)
		refused := 0
		for _, f := range all {
			line := f.Name
			if f.Refused != "" {
				refused++
				line += "  refused: " + f.Refused
			}
			sayLine(c, line)
		}
		if o.JSON {
			err = errors.Join(err, printJSON(c, fetchedShown{append([]client.Fetched{}, all...)}))
		}
		if err == nil && refused > 0 {
			err = fmt.Errorf("%d of %d refused", refused, len(all))
		}
		return err
	})
}
