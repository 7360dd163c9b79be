package audits

import (
	"context"
	"errors"

	"bourse/bank/audit"
	"bourse/bank/tiles"
)

// Published audits the published log at the address. It uses only the log's tiles.
func Published(ctx context.Context, address string, l *tiles.Log, opts audit.Options) (*Found, error) {
	head, err := l.Head()
	if err != nil {
		return nil, err
	}
	if opts.Head == "" {
		opts.Head, opts.Whole = head.String(), true
	}
	lines := l.Lines(ctx)
	defer lines.Close()
	r, err := Log(lines, opts)
	switch {
	case errors.Is(err, tiles.ErrRecord):
		r = &audit.Report{Findings: []audit.Finding{{Found: err.Error(), Want: "one line per record"}}}
	case errors.Is(err, tiles.ErrTile):
		r = &audit.Report{Findings: []audit.Finding{{Found: err.Error(), Want: "tiles that hash to the root in the checkpoint"}}}
	case err != nil:
		return nil, err
	}
	if r.Clean() && r.Head != head.String() {
		r.Findings = append(r.Findings, audit.Finding{Found: "head " + r.Head, Want: head.String() + ", by the checkpoint"})
	}
	if len(opts.Seen) == 0 {
		r.Beyond = append(r.Beyond, "the times of entries, because no --witness was given to confirm them")
	}
	return &Found{Ledgers: []Audited{{address, r}}}, nil
}
