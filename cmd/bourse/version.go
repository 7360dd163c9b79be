package main

import (
	"fmt"

	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

// version returns the version of the program.
func version() string {
	v := results.BuildVersion()
	s := v.Version + ", revision " + v.Revision + ", " + v.Go
	if v.Modified == "true" {
		s += ", modified"
	}
	return s
}

// A release is the JSON output with the program's version.
type release struct {
	Release  string `json:"release" doc:"version number, as in the CHANGELOG"`
	Revision string `json:"revision" doc:"revision of the source, or unknown"`
	Modified string `json:"modified" doc:"whether the source differed from the revision: true, false or unknown"`
	Go       string `json:"go" doc:"version of the compiler"`
	Platform string `json:"platform" doc:"operating system and architecture"`
}

var versionCommand = command(`version
print the version of the program

Include this line in bug reports. The flag --version prints the same line.

   bourse version
   bourse version --json`, func(c *cli.Context, o *versionOptions) error {
	if o.JSON {
		v := results.BuildVersion()
		return printJSON(c, release{v.Version, v.Revision, v.Modified, v.Go, v.Platform})
	}
	_, err := fmt.Fprintln(c.App.Writer, c.App.Name, "version", version())
	return err
})

type versionOptions struct {
	jsonOption[release] `yaml:",inline"`
}
