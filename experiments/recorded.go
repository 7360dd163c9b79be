package experiments

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"bourse/experiments/scenario"
	"bourse/hosts/availability"
	"bourse/hosts/availability/traces"
)

// ReadAvailability reads a recorded trace in the same way as a scenario that sets only the
// path and the format. With format "auto", it detects the format from the first lines. It also
// returns a description of how each line was interpreted.
func ReadAvailability(path, format string) (*availability.Trace, string, error) {
	a := scenario.DefaultAvailability()
	a.File, a.Format = path, format
	t, acc, err := readTrace(nil, &a)
	if err != nil {
		return nil, "", err
	}
	return t, path + ": " + strings.TrimSpace(acc.String()), nil
}

// readTrace reads the trace file of a. If the path is a folder, it reads every file in the
// folder, because the ucb format has one file per host.
func readTrace(in files, a *scenario.Availability) (*availability.Trace, *traces.Accounting, error) {
	info, err := os.Stat(a.File)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		if a.Format != "ucb" && a.Format != "auto" {
			return nil, nil, fmt.Errorf("%s is a folder, want a file (only format ucb reads folders)", a.File)
		}
		return readFolder(in, a)
	}
	r, err := readAs(in, a.File, func(in io.Reader) (r recorded, err error) {
		r.trace, r.lines, err = parseTrace(in, a)
		return r, err
	})
	return r.trace, r.lines, err
}

// parseTrace reads a trace from in, which contains the file of a.
func parseTrace(in io.Reader, a *scenario.Availability) (t *availability.Trace, acc *traces.Accounting, err error) {
	format := a.Format
	if format == "auto" {
		if format, in, err = recognize(in); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", a.File, err)
		}
	}
	switch format {
	case "csv":
		t, acc, err = traces.ReadCSV(in, a.Gap)
	case "fta":
		t, acc, err = traces.ReadFTA(in, a.Gap)
	case "ucb":
		t, acc, err = traces.ReadUCB([]traces.File{{Name: filepath.Base(a.File), Reader: in}}, a.Peak, a.Gap)
	default:
		t, acc, err = traces.ReadLoad(in, traces.LoadConfig{Threshold: a.Threshold, MinDays: a.MinDays, Gap: a.Gap})
	}
	if err == nil && len(t.Hosts) == 0 {
		err = fmt.Errorf("found no hosts in the file, read as format %s: %s", format, strings.TrimSpace(acc.String()))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", a.File, err)
	}
	return t, acc, err
}

func readFolder(in files, a *scenario.Availability) (*availability.Trace, *traces.Accounting, error) {
	entries, err := os.ReadDir(a.File)
	if err != nil {
		return nil, nil, err
	}
	var files []traces.File
	for _, e := range entries {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		text, err := readAs(in, filepath.Join(a.File, e.Name()), io.ReadAll)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, traces.File{Name: e.Name(), Reader: bytes.NewReader(text)})
	}
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("%s: no files", a.File)
	}
	return traces.ReadUCB(files, a.Peak, a.Gap)
}

// recognize detects the trace format from the first line that is not a comment. It also
// returns a reader of the complete file.
func recognize(f io.Reader) (string, io.Reader, error) {
	in := bufio.NewReaderSize(f, 1<<16)
	head, err := in.Peek(1 << 16)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", nil, err
	}
	text := plainText(head)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		switch fields := strings.Fields(line); {
		case strings.Contains(line, ","):
			return "csv", in, nil
		case strings.Count(line, "\t") == 2 && len(fields) > 3:
			return "load", in, nil
		case fields[0] == "event_id" || len(fields) >= 8:
			return "fta", in, nil
		case len(fields) == 2:
			return "ucb", in, nil
		}
		break
	}
	return "", nil, errors.New("the first lines match no known format; state it with format: csv, fta, ucb or load")
}

// plainText returns the start of a file as text. It decompresses files in gzip format.
func plainText(head []byte) string {
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return string(head)
	}
	text, _ := io.ReadAll(io.LimitReader(z, 1<<16)) // ignore errors, because a truncated stream still yields text
	return string(text)
}
