package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/service"
	"bourse/bank/store"
	"bourse/hosts/remote"

	"github.com/cockroachdb/pebble/v2/vfs"
)

var everyNth = flag.Bool("processes.every", false, "TestProcessesKilled kills at more occasions of each step")

// TestMain lets the test binary run as a bank or a market in its own process.
func TestMain(m *testing.M) {
	switch dir := os.Getenv("BOURSE_TEST_DIR"); os.Getenv("BOURSE_TEST_PART") {
	case "bank":
		bankPart(dir, fateOf(os.Getenv("BOURSE_TEST_DIES")))
	case "market":
		marketPart(dir, fateOf(os.Getenv("BOURSE_TEST_DIES")))
	default:
		os.Exit(m.Run())
	}
}

// TestProcessesKilled kills a market, a bank, or both with SIGKILL at each point of a step.
// Each is a separate process. Afterwards, the entries of the bank and the state of the market
// must be the same as without the kill.
func TestProcessesKilled(t *testing.T) {
	t.Parallel()
	want := apart(t, "", "").day()
	for _, c := range []struct{ row, part, at string }{
		{"market before its record", "market", "record"},
		{"market before it asks", "market", "apply"},
		{"market asks to admit", "market", "before admit"},
		{"market has admitted", "market", "after admit"},
		{"market asks to reject", "market", "before reject"},
		{"market has rejected", "market", "after reject"},
		{"market asks to settle", "market", "before settle"},
		{"market has settled", "market", "after settle"},
		{"market before its outcome", "market", "outcome"},
		{"market before it answers", "market", "answer"},
		{"bank before it books", "bank", "before sync"},
		{"bank before it answers", "bank", "after sync"},
		{"both before it asks", "both", "before admit"},
		{"both before its outcome", "both", "outcome"},
	} {
		t.Run(c.row, func(t *testing.T) {
			t.Parallel()
			most := 2
			if *everyNth {
				most = 40
			}
			for nth := 1; nth <= most; nth += 1 + nth/4 {
				w := apart(t, c.part, fmt.Sprintf("%s/%d", c.at, nth))
				got := w.day()
				if w.apart.kills == 0 && nth > 1 {
					break
				}
				if w.apart.kills == 0 || !reflect.DeepEqual(got, want) {
					t.Errorf("killed %d times at %s %d: %d entries, want %d: %s", w.apart.kills, c.at, nth, len(got), len(want), firstDifference(got, want))
				}
				w.apart.end()
				w.check(9)
			}
		})
	}
}

// apart returns a town whose market and bank are separate processes. The named process, or
// both, is killed at the point given by a fate.
func apart(t *testing.T, part, fate string) *town {
	t.Helper()
	p := &processes{T: t, dir: t.TempDir(), both: part == "both"}
	w := &town{t: t, now: 100, apart: p}
	if err := found(p.path("books"), nil, 2).Close(); err != nil {
		t.Fatal(err)
	}
	p.bankDies, p.marketDies = fate, fate
	if part == "bank" {
		p.marketDies = ""
	} else {
		p.bankDies = ""
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.address = l.Addr().String()
	l.Close()
	p.tell(w.now)
	p.startBank()
	t.Cleanup(p.end)
	for h := range 2 {
		w.join(fmt.Sprintf("h%02d", h))
	}
	return w
}

// A processes is a bank and a market in separate processes. Each is restarted when it has died.
type processes struct {
	*testing.T
	dir                  string
	both                 bool   // whether the bank dies together with the market
	bankDies, marketDies string // points at which the first process of each is killed
	address              string // of the bank

	heard []heard // messages that the market has not received yet
	last  said

	market *exec.Cmd
	in     io.WriteCloser
	to     *json.Encoder
	from   *json.Decoder

	mu    sync.Mutex
	over  bool
	bank  *exec.Cmd
	done  chan struct{} // closed when the bank must not be started again
	kills int
}

// A heard is a message that a host sends.
type heard struct {
	Host string
	Told remote.Told
}

// An ask is a step for a market to execute.
type ask struct {
	Now      float64
	Heard    []heard
	Messages []message
}

// A said is the result of an ask.
type said struct {
	Results []saidResult
	Orders  map[string]remote.Orders
	List    []string // description of each contract
}

type saidResult struct {
	Answer     *Answer
	Known      []int64
	Superseded bool
	Err        string
}

func (p *processes) path(name string) string { return filepath.Join(p.dir, name) }

// tell writes the time for the clocks of both processes.
func (p *processes) tell(now float64) {
	p.Helper()
	text := strconv.FormatFloat(now, 'g', -1, 64)
	if err := errors.Join(os.WriteFile(p.path("now.new"), []byte(text), 0o600), os.Rename(p.path("now.new"), p.path("now"))); err != nil {
		p.Fatal(err)
	}
}

// command returns a process of this program that runs one of the parts.
func (p *processes) command(part, dies string) *exec.Cmd {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "BOURSE_TEST_PART="+part, "BOURSE_TEST_DIR="+p.dir, "BOURSE_TEST_BANK="+p.address, "BOURSE_TEST_DIES="+dies)
	c.Stderr = os.Stderr
	return c
}

// startBank starts the bank, repeatedly.
func (p *processes) startBank() {
	p.Helper()
	first := make(chan error, 1)
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		for dies := p.bankDies; ; dies = "" {
			c := p.command("bank", dies)
			out, err := c.StdoutPipe()
			p.mu.Lock()
			if p.over {
				p.mu.Unlock()
				return
			}
			if err == nil {
				err = c.Start()
			}
			p.bank = c
			p.mu.Unlock()
			if err == nil {
				_, err = bufio.NewReader(out).ReadString('\n') // the bank is now listening, or has died
			}
			select {
			case first <- err:
			default:
			}
			c.Wait()
			p.mu.Lock()
			if !p.over {
				p.kills++
			}
			p.mu.Unlock()
		}
	}()
	if err := <-first; err != nil {
		p.Fatal(err)
	}
}

// startMarket starts the market.
func (p *processes) startMarket() {
	p.Helper()
	c := p.command("market", p.marketDies)
	in, err := c.StdinPipe()
	out, wrong := c.StdoutPipe()
	if err = errors.Join(err, wrong); err == nil {
		err = c.Start()
	}
	if err != nil {
		p.Fatal(err)
	}
	p.market, p.in, p.marketDies = c, in, ""
	p.to, p.from = json.NewEncoder(in), json.NewDecoder(out)
}

// turn makes the market execute a step, and repeats it if the market died.
func (p *processes) turn(now float64, messages []message) (out []result) {
	p.Helper()
	p.tell(now)
	for range 3 {
		if p.market == nil {
			p.startMarket()
		}
		p.last = said{}
		err := p.to.Encode(ask{now, p.heard, messages})
		if err == nil {
			err = p.from.Decode(&p.last)
		}
		if err == nil {
			p.heard = nil
			for _, r := range p.last.Results {
				one := result{answer: r.Answer, known: r.Known, superseded: r.Superseded}
				if r.Err != "" {
					one.err = errors.New(r.Err)
				}
				out = append(out, one)
			}
			return out
		}
		if p.both {
			p.mu.Lock()
			p.bank.Process.Kill()
			p.mu.Unlock()
		}
		p.in.Close()
		wrong := p.market.Wait()
		p.market = nil
		if !wasKilled(wrong) {
			p.Fatalf("the market ended: %v, %v", err, wrong)
		}
		p.mu.Lock()
		p.kills++
		p.mu.Unlock()
	}
	p.Fatal("the market dies again and again")
	return nil
}

// wasKilled reports whether a process was killed by a signal.
func wasKilled(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	s, ok := exit.Sys().(syscall.WaitStatus)
	return ok && s.Signal() == syscall.SIGKILL
}

// end ends both processes permanently.
func (p *processes) end() {
	if p.market != nil {
		p.in.Close()
		p.market.Wait()
		p.market = nil
	}
	p.mu.Lock()
	if p.over = true; p.bank != nil {
		p.bank.Process.Kill()
	}
	p.mu.Unlock()
	<-p.done
}

// A fate is the point at which a process kills itself, when it reaches this point for the nth
// time.
type fate struct {
	at  string
	nth int
}

func fateOf(text string) *fate {
	at, nth, _ := strings.Cut(text, "/")
	n, _ := strconv.Atoi(nth)
	return &fate{at, n}
}

func (f *fate) step(at string) error {
	if at == f.at {
		if f.nth--; f.nth == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	return nil
}

// A toldClock is a clock that the test sets through a file in a folder.
type toldClock string

func (dir toldClock) Now() float64 {
	return must(strconv.ParseFloat(string(must(os.ReadFile(filepath.Join(string(dir), "now")))), 64))
}

func (toldClock) Reach(float64) {}

// bankPart runs a bank until it is killed.
func bankPart(dir string, f *fate) {
	l := must(net.Listen("tcp", os.Getenv("BOURSE_TEST_BANK")))
	fmt.Println("listening")
	books := filepath.Join(dir, "books")
	err := service.Serve(context.Background(), l, service.Config{
		Key: ownerstest.Private("bank"), Now: toldClock(dir).Now,
		Write: func() (*store.Sequencer, error) {
			later := new(fate) // no entry is booked before the bank is open
			s, err := store.OpenSequencer(books, store.Options{FS: mortal{vfs.Default, later}})
			*later = *f
			return s, err
		},
		Read: func() (*store.Reader, error) { return store.OpenReader(books, store.Options{}) },
	})
	panic(err)
}

// A mortal is the disk of a process that is killed before or after it has made data
// durable.
type mortal struct {
	vfs.FS
	*fate
}

func (m mortal) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := m.FS.Create(name, c)
	return mortalFile{f, m.fate}, err
}

func (m mortal) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := m.FS.ReuseForWrite(from, to, c)
	return mortalFile{f, m.fate}, err
}

type mortalFile struct {
	vfs.File
	*fate
}

func (f mortalFile) Sync() error     { return f.around(f.File.Sync) }
func (f mortalFile) SyncData() error { return f.around(f.File.SyncData) }

func (f mortalFile) around(sync func() error) error {
	f.step("before sync")
	err := sync()
	f.step("after sync")
	return err
}

// A farBank is a bank whose calls kill the market at a chosen step, before or after a call.
type farBank struct {
	*service.Client
	*fate
}

func (b farBank) Do(ctx context.Context, e bank.Entry) (store.Receipt, error) {
	b.step("before " + e.Kind.String())
	r, err := b.Client.Do(ctx, e)
	b.step("after " + e.Kind.String())
	return r, err
}

// marketPart runs a market until it is killed or has nothing more to do.
func marketPart(dir string, f *fate) {
	clock := toldClock(dir)
	c := must(service.NewClient(service.Dial{Addresses: []string{"http://" + os.Getenv("BOURSE_TEST_BANK")}, Account: "market:lab", Key: ownerstest.Private("market:lab"), Now: clock.Now}))
	m := must(Open(filepath.Join(dir, "market"), must(Parse("lab.yaml", []byte(file))), World{
		Bank: farBank{c, f}, Ledger: ownerstest.Ledger, Number: ownerstest.Number, Key: ownerstest.Private("market:lab"), Clock: clock,
		KeyOf: func(_ context.Context, account string) (string, error) { return ownerstest.Public(account), nil },
	}))
	m.step = f.step
	from, to := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var a ask
		if err := from.Decode(&a); errors.Is(err, io.EOF) {
			if err := m.Close(); err != nil {
				panic(err)
			}
			return
		} else if err != nil {
			panic(err)
		}
		for i := range a.Heard {
			m.seen.hear(a.Heard[i].Host, a.Now, &a.Heard[i].Told)
		}
		var letters []*letter
		for i := range a.Messages {
			letters = append(letters, newLetter(a.Messages[i]))
		}
		if err := m.turn(a.Now, letters); err != nil {
			panic(err)
		}
		s := said{Orders: make(map[string]remote.Orders), List: listed(m)}
		for _, l := range letters {
			r := saidResult{l.result.answer, l.result.known, l.result.superseded, ""}
			if l.result.err != nil {
				r.Err = l.result.err.Error()
			}
			s.Results = append(s.Results, r)
		}
		for _, h := range m.core.hosts {
			if p := m.seen.of(h.Spec.Name); p != nil {
				o := p.orders
				o.Wanted = slices.Clone(o.Wanted)
				for i := range o.Wanted {
					o.Wanted[i].Work = 0 // JSON cannot represent infinity
				}
				s.Orders[h.Spec.Name] = o
			}
		}
		if err := to.Encode(&s); err != nil {
			panic(err)
		}
	}
}
