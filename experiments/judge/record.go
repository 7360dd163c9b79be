package judge

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"bourse/bank/canonical"
	"bourse/bank/keys"
	"bourse/bank/whole"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// A Record contains a judgement.
type Record struct {
	Judge string `json:"judge" doc:"version and revision of the program"`
	Hashes
	Epoch       int            `json:"epoch"`
	Position    int            `json:"position" doc:"number of the record in judged.jsonl, counted from 1"`
	Previous    string         `json:"previous" doc:"SHA-256 of the preceding line of judged.jsonl; empty for the first line"`
	Metric      string         `json:"metric"`
	Margin      float64        `json:"margin"`
	Level       float64        `json:"level" doc:"maximum probability that the true difference lies outside the interval"`
	Gates       scenario.Gates `json:"gates"`
	Confinement string         `json:"confinement" doc:"confinement of the candidate: program (namespaces, Landlock and limits), script (memory limit), built-in or none"`
	Outcome
}

// A Signed is a record with its signature. It is one line of judged.jsonl.
type Signed struct {
	Record    Record `json:"record"`
	Key       string `json:"key" doc:"public key of the referee; empty if the record is not signed"`
	Signature string `json:"signature" doc:"ed25519 signature of the record as JSON on one line, in hexadecimal"`
}

// line returns v as JSON on one line.
func line(v any) []byte {
	var b bytes.Buffer
	if err := canonical.NewEncoder(&b).Encode(v); err != nil {
		panic(fmt.Sprintf("judge: encode a record: %v", err)) // cannot happen, because all numbers are finite
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// Verify returns the record in text if the public key verifies its signature. Text is a line of
// judged.jsonl or the output of print. Verify returns an error if any byte differs.
func Verify(text []byte, public string, print func(*Signed) []byte) (*Signed, error) {
	var s Signed
	public, err := keys.Public(public)
	if err != nil {
		return nil, misuse.Of(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("found no record: %w", err)
	}
	text = bytes.TrimSuffix(text, []byte{'\n'})
	if !bytes.Equal(text, line(s)) && !bytes.Equal(text, bytes.TrimSuffix(print(&s), []byte{'\n'})) {
		return nil, errors.New("found a record that has been changed, want the original record")
	}
	if !s.by(public) {
		return nil, fmt.Errorf("found a record without a valid signature of %s; the record was changed, or signed with another key", public)
	}
	return &s, nil
}

// by reports whether the key has signed s.
func (s *Signed) by(public string) bool {
	signature, err := hex.DecodeString(s.Signature)
	return s.Key == public && err == nil && s.Signature == hex.EncodeToString(signature) && ed25519.Verify(keys.Bytes(public), line(s.Record), signature)
}

// Repeats returns an error if a repeated judgement has a different outcome than the record.
func (s *Signed) Repeats(j *Judging, o Outcome) error {
	r, was := j.record(o), &s.Record
	r.Judge, r.Epoch, r.Position, r.Previous, r.Confinement = was.Judge, was.Epoch, was.Position, was.Previous, was.Confinement
	if got, want := line(r), line(was); !bytes.Equal(got, want) {
		return fmt.Errorf("found the judgement %s, want %s, as in the record", got, want)
	}
	return nil
}

// A Book is the file of all judgements next to a study. Each line has the hash of the line
// before it.
type Book struct {
	path string
	last []byte // last line of the file
	all  []Signed
}

// Open opens the book in the given file. If the file does not exist, the book is empty.
func Open(path string) (*Book, error) {
	b := &Book{path: path}
	text, err := whole.Read(path, 1<<30)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	for l := range bytes.Lines(text) {
		var s Signed
		if err := json.Unmarshal(l, &s); err != nil || s.Record.Previous != b.head() || s.Record.Position != len(b.all)+1 {
			return nil, fmt.Errorf("%s: line %d does not follow the line before it: the file has been changed", path, len(b.all)+1)
		}
		b.last, b.all = bytes.Clone(bytes.TrimSuffix(l, []byte{'\n'})), append(b.all, s)
	}
	return b, nil
}

// head returns the hash of the last line.
func (b *Book) head() string {
	if b.last == nil {
		return ""
	}
	return sum(b.last)
}

// Known returns the record of an earlier judgement of the same policies in an epoch, or nil if
// there is no such record. The public key must have signed the record; if it is empty, the
// record need not be signed. Known returns an error if there is no record and the epoch has no
// judgements left.
func (b *Book) Known(j *Judging, epoch int, public string) (*Signed, error) {
	n := 0
	for i := range b.all {
		s := &b.all[i]
		if s.Record.Study != j.Hashes.Study || s.Record.Epoch != epoch {
			continue
		}
		switch n++; {
		case s.Record.Hashes != j.Hashes || public != "" && s.Signature == "": // judged without confinement
		case public != "" && !s.by(public):
			return nil, fmt.Errorf("%s: line %d: found a record without a valid signature of %s; the record was changed, or signed with another key", b.path, i+1, public)
		default:
			return s, nil
		}
	}
	if n >= j.Settings.Judgements {
		return nil, misuse.Errorf("epoch: found %d judgements in epoch %d, the maximum that the study allows, want --epoch %d", n, epoch, epoch+1)
	}
	return nil, nil
}

// Record returns a record of an outcome. The record follows the last one in the book.
func (b *Book) Record(j *Judging, epoch int, o Outcome) Record {
	r, v := j.record(o), results.BuildVersion()
	r.Judge, r.Epoch, r.Position, r.Previous = v.Version+" "+v.Revision, epoch, len(b.all)+1, b.head()
	return r
}

// record returns a record of an outcome without its place in a book.
func (j *Judging) record(o Outcome) Record {
	s := j.Settings
	return Record{Hashes: j.Hashes, Metric: s.Metric, Margin: s.Margin, Level: j.level(), Gates: s.Gates, Confinement: j.confinement, Outcome: o}
}

// Add adds the record of an outcome to the book at path and returns it. The private key signs
// it, unless it is empty. Other judgements may add their records at the same time. If one of
// them has judged the same policies, Add returns its record. If they have used up the epoch,
// Add returns an error.
func Add(path string, j *Judging, epoch int, o Outcome, private string) (*Signed, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := lock(f); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	b, err := Open(path)
	if err != nil {
		return nil, err
	}
	var key ed25519.PrivateKey
	s := &Signed{Record: b.Record(j, epoch, o)}
	if private != "" {
		_, key, err = keys.Pair(private)
		if err == nil {
			s.Key, err = keys.Of(private)
		}
		if err != nil {
			return nil, err
		}
		s.Signature = hex.EncodeToString(ed25519.Sign(key, line(s.Record)))
	}
	if known, err := b.Known(j, epoch, s.Key); known != nil || err != nil {
		return known, err
	}
	_, err = f.Write(append(line(s), '\n'))
	return s, errors.Join(err, f.Sync())
}

// A Report is the output of 'bourse judge': feedback or a record.
type Report struct {
	*Feedback
	*Signed
}

// Document returns the report as a page.
func (r Report) Document() report.Document {
	d := report.Document{Values: func([]string) any { return r }}
	if s := r.Signed; s != nil {
		o := &s.Record.Outcome
		text := fmt.Sprintf("%s after %d replications", o.Verdict, o.N)
		if o.Gate != "" {
			text += ": the candidate fails the gate " + o.Gate
		}
		if o.Lo != nil {
			text += fmt.Sprintf("; %s of the candidate minus that of the champion is between %g and %g", s.Record.Metric, *o.Lo, *o.Hi)
		}
		d.Notes = []string{text + "."}
		return d
	}
	f := r.Feedback
	d.Notes = []string{fmt.Sprintf("The combined score %.6g is the mean difference of %s (candidate minus champion).", f.Score, f.Metric)}
	if f.Gate != "" {
		d.Notes = []string{"The candidate fails the gate " + f.Gate + strings.TrimRight(": "+f.Error, ": ") + "."}
	}
	all := report.Table{Title: "Candidate minus champion", Header: []string{"Configuration", "n", f.Metric, "95 % from", "to", "Violations", "Champion's"}, Left: 1}
	jobs := report.Table{Title: "Jobs with the largest losses", Header: []string{"Configuration", "Replication", "Job", "Lost ($)", "Champion", "Candidate", "Reason"}, Left: 1}
	for _, c := range f.Configurations {
		all.Rows = append(all.Rows, report.Cells(c.Name, c.N, c.Difference, c.Lo, c.Hi, c.Violations, c.Instead))
		for _, l := range c.Lost {
			jobs.Rows = append(jobs.Rows, report.Cells(c.Name, l.Replication, int(l.Job), l.Lost, l.Champion, l.Candidate, l.Reason))
		}
	}
	d.Tables = []report.Table{all, jobs}
	return d
}
