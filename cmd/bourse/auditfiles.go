package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

// checkedFiles are the files of a results directory, held against its manifest.
type checkedFiles struct {
	Results  string   `json:"results"`
	Files    int      `json:"files"`    // that the manifest names
	Manifest string   `json:"manifest"` // its sha256
	Findings []change `json:"findings"`
	Beyond   []string `json:"beyond"` // what could not have been found
}

// A change is a file that is not as it was written.
type change struct {
	File  string `json:"file"`
	Found string `json:"found"`
	Want  string `json:"want"`
}

// checkFiles holds the files of the results in path against their manifest. What is
// wrong with the files of a ledger that was found bad has been said.
func checkFiles(ctx context.Context, path string, all []audited) (*checkedFiles, error) {
	r, err := openResults(path)
	if err != nil {
		return nil, err
	}
	changes, err := r.Check(ctx)
	if err != nil {
		return nil, err
	}
	told := func(c results.Change) bool {
		return slices.ContainsFunc(all, func(a audited) bool {
			return !a.Report.Clean() && strings.HasPrefix(path+"/"+c.File, a.Ledger+"/")
		})
	}
	f := &checkedFiles{
		Results: path, Files: len(r.Manifest.Outputs), Manifest: r.Digest(), Findings: []change{},
		Beyond: []string{"whether somebody changed manifest.json, and files to fit it: hold its sha256 against one that was kept elsewhere"},
	}
	for _, c := range slices.DeleteFunc(changes, told) {
		f.Findings = append(f.Findings, change(c))
	}
	return f, nil
}

// print tells people.
func (f *checkedFiles) print(c *cli.Context) error {
	var b strings.Builder
	switch {
	case len(f.Findings) > 0:
		fmt.Fprintf(&b, "%s: BAD\n", f.Results)
		for _, x := range f.Findings {
			fmt.Fprintf(&b, "  %s: found %s, want %s\n", x.File, x.Found, x.Want)
		}
	case !c.Bool("quiet"):
		fmt.Fprintf(&b, "%s: clean\n  %s as manifest.json says, whose sha256 is %s\n", f.Results, count(f.Files, "file"), f.Manifest)
		for _, x := range f.Beyond {
			fmt.Fprintf(&b, "  not to be found here: %s\n", x)
		}
	}
	_, err := fmt.Fprint(c.App.Writer, b.String())
	return err
}
