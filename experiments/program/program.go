// Package program runs admission policies that are external programs. A program reads questions
// and writes answers, with one JSON object per line. Package outside defines the format of
// both. A program must be a pure function of each line, so any of its processes may answer any
// question. To check this, the market asks some questions twice. Different answers are an
// error.
package program

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"time"

	"bourse/contracts/admission/outside"
	"bourse/hosts"
	"bourse/hosts/confine"
)

// The limits of an external program.
const (
	maxAnswer = 1 << 20          // maximum bytes of an answer
	maxErrors = 1 << 20          // maximum bytes of standard error that are stored
	patience  = 2 * time.Second  // time for a process to end after its input has been closed; afterwards it is killed
	idleTime  = 10 * time.Second // time after which an idle process is ended
	sampled   = 64               // on average, one in this many questions is asked twice
	renewed   = 8                // of the first two questions of each run, one in this many is asked in a new process
)

// Connect starts the program that o describes for a fleet and exchanges hello messages with
// it. It sets the mind and the terms of o. It also reads the program's files. It returns
// the program's hello message.
func Connect(o *outside.Program, fleet []hosts.Spec, read func(path string) ([]byte, error)) (hello []byte, err error) {
	for _, name := range o.Paths() {
		if _, err := read(name); err != nil {
			return nil, err
		}
	}
	first := struct {
		Hello   string         `json:"hello"`
		Version int            `json:"version"`
		Options map[string]any `json:"options"`
		Hosts   []outside.Host `json:"hosts"`
	}{"bourse policy", outside.Version, o.Options, nil}
	for h := range fleet {
		first.Hosts = append(first.Hosts, outside.Fixed(hosts.ID(h), &fleet[h]))
	}
	text, err := json.Marshal(&first)
	if err != nil {
		return nil, err
	}
	m := &mind{command: o.Command, folder: o.Folder, files: o.Files, confined: o.Confined, timeout: time.Duration(o.Timeout * float64(time.Second)), first: append(text, '\n')}
	_, _ = rand.Read(m.key[:]) // never fails
	p, err := m.start()
	if err != nil {
		return nil, m.named(err)
	}
	if o.Terms, m.parts, err = outside.ParseHello(p.hello); err != nil {
		p.end()
		return nil, m.named(err)
	}
	m.hello = p.hello
	m.put(p)
	o.Mind = m
	return p.hello, nil
}

// A mind sends questions to the processes of one program.
type mind struct {
	command  []string
	folder   string
	files    []string // files that a confined process may read
	confined bool
	timeout  time.Duration
	first    []byte // the market's hello message
	hello    []byte // hello message of the program; nil until its first process has sent it
	parts    outside.Parts
	key      [sha256.Size]byte

	mu     sync.Mutex
	idle   []*process
	second *process // process that answers questions a second time
	before *asked   // last question that was asked twice
}

// An asked is a question that has been answered.
type asked struct {
	line, answer []byte
	number       int
	ended        bool
}

// Decide implements [outside.Mind].
func (m *mind) Decide(q *outside.Question) (outside.Answer, error) {
	a, err := m.ask(q)
	if err == nil {
		_, err = q.Check(&a)
	}
	return a, m.named(err)
}

// Ended implements [outside.Mind].
func (m *mind) Ended(q *outside.Question) ([]byte, error) {
	a, err := m.ask(q)
	return a.State, m.named(err)
}

// Key implements [outside.Mind]. Key returns nil, because programs cannot define an order.
func (*mind) Key(*outside.Question) ([]float64, error) { return nil, nil }

// named adds the program's command to an error.
func (m *mind) named(err error) error {
	if err != nil {
		command, _, _ := strings.Cut(strings.Join(m.command, " "), "\n")
		err = fmt.Errorf("%s: %w", command, err)
	}
	return err
}

// ask returns the program's answer to q.
func (m *mind) ask(q *outside.Question) (a outside.Answer, err error) {
	line, err := json.Marshal(q.Line(m.parts))
	if err != nil {
		return a, err
	}
	line = append(line, '\n')
	p, err := m.take()
	if err != nil {
		return a, err
	}
	done := q.Guard(p)
	answer, err := p.answer(line, m.timeout)
	done()
	if err != nil {
		p.Cancel("")
		go p.end()
		return a, err
	}
	m.put(p)
	q.Said(line, answer)
	ended := q.Outcome != ""
	if a, err = outside.ParseAnswer(answer, q.Number, ended); err != nil {
		return a, err
	}
	// A secret key, which the program does not know, determines which questions are asked
	// twice. The first two questions of each run are always asked twice.
	if sum := sha256.Sum256(append(m.key[:], line...)); sum[0]%sampled == 0 || q.Number <= 2 {
		err = m.again(&asked{line, answer, q.Number, ended}, q.Number <= 2 && sum[1]%renewed == 0)
	}
	return a, err
}

// again asks a question a second time, in another process and in another order: the previous
// such question is asked after this one. If renew is set, the process is a new one. A new
// process cannot remember earlier runs, as all other processes could.
func (m *mind) again(now *asked, renew bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if renew && m.second != nil {
		go m.second.end()
		m.second = nil
	}
	if m.second == nil {
		var err error
		if m.second, err = m.start(); err != nil {
			return err
		}
	}
	for _, a := range []*asked{now, m.before} {
		if a == nil {
			continue
		}
		other, err := m.second.answer(a.line, m.timeout)
		if err != nil {
			return err
		}
		one, _ := outside.ParseAnswer(a.answer, a.number, a.ended)
		two, err := outside.ParseAnswer(other, a.number, a.ended)
		if err != nil || !reflect.DeepEqual(one, two) {
			return fmt.Errorf("found two answers to one question, %.500s and %.500s, want the same answer, because an answer may depend only on the question", a.answer, other)
		}
	}
	m.before = now
	return nil
}

// take returns an idle process. If there is none, it starts a process.
func (m *mind) take() (*process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := len(m.idle); n > 0; n = len(m.idle) {
		p := m.idle[n-1]
		if m.idle = m.idle[:n-1]; p.expiry.Stop() {
			return p, nil
		}
	}
	return m.start()
}

// put makes p idle. The process is ended if it stays idle for some time.
func (m *mind) put(p *process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.expiry = time.AfterFunc(idleTime, p.end)
	m.idle = append(m.idle, p)
}

// A process is a running program.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	lines  *bufio.Reader
	errs   tail
	hello  []byte
	expiry *time.Timer
}

// start starts the program and exchanges hello messages with it.
func (m *mind) start() (p *process, err error) {
	p = &process{cmd: exec.Command(m.command[0], m.command[1:]...)}
	p.cmd.Dir, p.cmd.Stderr = m.folder, &p.errs
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C", "HOME="}
	if m.confined {
		if err := confine.Prepare(p.cmd, m.files); err != nil {
			return nil, err
		}
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.lines = bufio.NewReaderSize(p.out, maxAnswer)
	if p.hello, err = p.answer(m.first, m.timeout); err == nil && m.hello != nil && !bytes.Equal(p.hello, m.hello) {
		err = fmt.Errorf("found two hello messages, %.500s and %.500s, want the same message from each process", m.hello, p.hello)
	}
	if err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// answer writes a line and returns the line with which the program answers.
func (p *process) answer(line []byte, limit time.Duration) ([]byte, error) {
	late := time.Now().Add(limit)
	for _, pipe := range []any{p.in, p.out} {
		if d, ok := pipe.(interface{ SetDeadline(time.Time) error }); ok {
			_ = d.SetDeadline(late) // ignore the error, because pipes of processes support deadlines
		}
	}
	_, err := p.in.Write(line)
	if err == nil {
		var answer []byte
		if answer, err = p.lines.ReadSlice('\n'); err == nil {
			return bytes.Clone(bytes.TrimSuffix(answer, []byte{'\n'})), nil
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("found no answer within %v", limit)
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("found an answer of more than %d bytes", maxAnswer)
	}
	p.end()
	return nil, fmt.Errorf("the program ended without an answer (%v)%s", p.cmd.ProcessState, p.errs.last())
}

// Cancel kills the process, which ends the computation.
func (p *process) Cancel(string) { _ = p.cmd.Process.Kill() } // ignore the error, because the process may have ended

// Timed reports that answers have their own time limit.
func (*process) Timed() bool { return true }

// end closes the input of p, and kills p if it does not end.
func (p *process) end() {
	_ = p.in.Close()
	kill := time.AfterFunc(patience, func() { p.Cancel("") })
	defer kill.Stop()
	_ = p.cmd.Wait() // ignore the error, because ProcessState contains the status
}

// A tail stores the end of a process's standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[:min(len(b), max(0, maxErrors-len(t.text)))]...)
	return len(b), nil
}

// last returns the last line of standard error, after a colon.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return ": " + strings.ToValidUTF8(last[:min(len(last), 200)], "?")
	}
	return ""
}
