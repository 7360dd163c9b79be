package audits

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bourse/experiments/results"
)

// A files contains the result of comparing the files of a results directory with its manifest.
type files struct {
	Results  string   `json:"results" doc:"directory of the results"`
	Files    int      `json:"files" doc:"published files named in the manifest"`
	Manifest string   `json:"manifest" doc:"SHA-256 of the manifest"`
	Findings []change `json:"findings"`
	Beyond   []string `json:"beyond" doc:"list of data that the audit could not check"`
}

// A change is a file that differs from the original file.
type change struct {
	File  string `json:"file"`
	Found string `json:"found"`
	Want  string `json:"want"`
}

// CheckFiles compares the files of the results with their manifest. It does nothing if l are
// not the ledgers of results. Findings about the files of a faulty ledger are omitted, because
// the ledger's audit has reported them. If no file has changed, CheckFiles calls again, which
// runs the experiment again and compares the results. The argument sound reports whether all
// ledgers are clean. It returns the differences and a list of the data that it did not
// compare.
func (f *Found) CheckFiles(ctx context.Context, l *Ledgers, again func(d *results.Dir, sound bool) ([]results.Change, []string, error)) error {
	r := l.kept
	if r == nil {
		return nil
	}
	changes, err := r.Check(ctx)
	if err != nil {
		return err
	}
	f.files = &files{
		Results: r.Path, Files: len(r.Manifest.Outputs), Manifest: r.Digest(), Findings: []change{},
		Beyond: []string{"whether somebody changed both manifest.json and the files; to check this, compare the sha256 of the manifest with a copy stored elsewhere"},
	}
	sound := !slices.ContainsFunc(f.Ledgers, func(a Audited) bool { return !a.Report.Clean() })
	if len(changes) == 0 {
		var beyond []string
		if changes, beyond, err = again(r, sound); err != nil {
			return err
		}
		f.files.Beyond = append(f.files.Beyond, beyond...)
	} else {
		f.files.Beyond = append(f.files.Beyond, "tables, figures, page and decisions, because files differ from manifest.json")
	}
	for _, c := range changes {
		if !slices.ContainsFunc(f.Ledgers, func(a Audited) bool {
			return !a.Report.Clean() && strings.HasPrefix(r.Path+"/"+c.File, a.Ledger+"/")
		}) {
			f.files.Findings = append(f.files.Findings, change(c))
		}
	}
	return nil
}

// print writes the findings as text.
func (f *files) print(b *strings.Builder, quiet bool) {
	switch {
	case len(f.Findings) > 0:
		fmt.Fprintf(b, "%s: BAD\n", f.Results)
		for _, x := range f.Findings {
			fmt.Fprintf(b, "  %s: found %s, want %s\n", x.File, x.Found, x.Want)
		}
		if !quiet {
			beyond(b, f.Beyond[1:]) // omit the first entry, which concerns a changed manifest
		}
	case !quiet:
		plural := "s"
		if f.Files == 1 {
			plural = ""
		}
		fmt.Fprintf(b, "%s: clean\n  %d file%s as in manifest.json, which has the sha256 %s\n", f.Results, f.Files, plural, f.Manifest)
		beyond(b, f.Beyond)
	}
}
