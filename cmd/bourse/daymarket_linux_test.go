package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"bourse/bank"
	"bourse/bank/keys"
	"bourse/experiments/live/client"
	"bourse/experiments/live/lab"
	"bourse/hosts"
	"bourse/hosts/link"
	"bourse/hosts/remote"
	"bourse/hosts/remote/remotetest"
)

// open creates the market and starts it.
func (d *day) open() {
	d.Helper()
	d.home = client.Home(filepath.Join(d.dir, "home"))
	if err := os.Mkdir(string(d.home), 0o700); err != nil {
		d.Fatal(err)
	}
	private, err := keys.Keep(rand.Reader, d.home.KeyFile(), "me")
	if err != nil {
		d.Fatal(err)
	}
	public, err := keys.Of(private)
	if err != nil {
		d.Fatal(err)
	}
	rules := fmt.Sprintf("name: lab\nlisten: 127.0.0.1:0\nkeep: %v\nlimits: {orders_per_second: 100000}\n", dayKeep/86400)
	plan := lab.Plan{Dir: filepath.Join(d.dir, "lab"), Market: "lab", Rules: []byte(rules), Account: keeper, Public: public, Money: bank.Micros(100_000e6)}
	if err := lab.Make(d.Context(), plan, wall()); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "owner.pub"), []byte(d.bourse("key", "new", "owner", "--name", "owner")), 0o600); err != nil {
		d.Fatal(err)
	}
	operator := filepath.Join("lab", "keys", "operator")
	d.bourse("bank", "enrol", "lab/books", dayOwner, "--key", "owner.pub", "--operator", operator)
	d.bourse("bank", "right", "lab/books", dayOwner, "payee", "--market", "lab", "--key", operator)
	if err := os.Rename(filepath.Join(d.dir, "lab", "books"), filepath.Join(d.dir, "books")); err != nil {
		d.Fatal(err)
	}
	var address string
	d.bank, address = d.start("bank", "serve", "books", "--plain", "--listen", "127.0.0.1:0")
	rules += "bank: " + strings.TrimPrefix(address, "address ") + "\n"
	if err := os.WriteFile(filepath.Join(d.dir, "lab", "market.yaml"), []byte(rules), 0o600); err != nil {
		d.Fatal(err)
	}
	d.market, _ = d.start("market", "serve", "lab", "--home", "home")
	if err := insist(func() error {
		text, err := os.ReadFile(filepath.Join(d.dir, "lab", servingFile))
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &d.served)
	}); err != nil {
		d.Fatal(err)
	}
	if err := d.home.Save(d.served.Membership, private); err != nil {
		d.Fatal(err)
	}
	d.web = &http.Client{Transport: link.NewPins(d.served.Pin, nil).Transport(nil, &http.Transport{})}
}

// bourse runs a command in the folder of the test and returns its output.
func (d *day) bourse(args ...string) string {
	d.Helper()
	c := exec.Command("bourse", args...)
	c.Dir = d.dir
	out, err := c.Output()
	if err != nil {
		d.Fatalf("bourse %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start starts a server that runs until the end of the test and returns its first output line.
// Garbage is collected often, so that the memory in use is close to the memory needed.
func (d *day) start(args ...string) (*exec.Cmd, string) {
	d.Helper()
	c, errs := exec.Command("bourse", args...), new(bytes.Buffer)
	c.Dir, c.Env, c.Stderr = d.dir, append(os.Environ(), "GOGC=20"), errs
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() {
		c.Process.Kill()
		if c.Wait(); d.Failed() {
			d.Logf("bourse %s: %s", strings.Join(args, " "), errs)
		}
	})
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		d.Fatalf("bourse %s: %v", strings.Join(args, " "), err)
	}
	go io.Copy(io.Discard, lines)
	return c, strings.TrimSpace(line)
}

// stop requests that a server ends, and waits for its end.
func (d *day) stop(c *exec.Cmd) {
	d.Helper()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		d.Error(err)
	}
	if err := c.Wait(); err != nil {
		d.Fatal(err)
	}
}

// insist calls f until it succeeds, for at most two minutes, because the machine may be
// busy.
func insist(f func() error) (err error) {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = f(); err == nil {
			return nil
		}
	}
	return err
}

// host runs one host, from joining the market until ctx ends.
func (d *day) host(ctx context.Context, name string, joined *sync.WaitGroup) {
	ready := sync.OnceFunc(joined.Done)
	defer ready()
	offer := remote.Offer{Kind: "model", CPUs: 1, Apart: true}
	c, err := d.join(ctx, name, offer)
	if err != nil {
		d.Errorf("%s: %v", name, err)
		return
	}
	defer c.Close()
	a := remotetest.New(hosts.Spec{Name: name, CPUs: 1, Speed: 1})
	a.Exits = func(contract int64) float64 {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.contracts[contract]
	}
	for ctx.Err() == nil {
		told := a.Tell(time.Since(d.begun).Seconds())
		told.Have, told.Offer = a.Deal(), offer
		o, err := c.Sync(ctx, name, told)
		if d.said.Add(1); err != nil {
			if ctx.Err() == nil {
				d.failed.Add(1)
				time.Sleep(100 * time.Millisecond)
			}
			continue
		}
		d.mu.Lock()
		for i := range o.Wanted {
			d.contracts[o.Wanted[i].Contract] = d.exits[o.Wanted[i].Job]
		}
		d.mu.Unlock()
		a.Obey(time.Since(d.begun).Seconds(), o)
		ready()
	}
}

// join makes a host join and returns its connection to the market.
func (d *day) join(ctx context.Context, name string, offer remote.Offer) (*link.Client, error) {
	keeps := d.served.Dial(nil)
	defer keeps.Close()
	var text string
	err := insist(func() (err error) {
		text, err = keeps.InviteHost(ctx, d.served.Secret, name, dayOwner)
		return err
	})
	if err != nil {
		return nil, err
	}
	token, err := link.ParseToken(text)
	if err != nil {
		return nil, err
	}
	own, err := link.Identity(filepath.Join(d.dir, name+".pem"), name)
	if err != nil {
		return nil, err
	}
	c := link.Dial(token.Address, link.NewPins(token.Pin, nil), own)
	return c, insist(func() error {
		_, _, err := c.Enrol(ctx, link.Enrolment{Secret: token.Secret, Name: name, Offer: offer})
		return err
	})
}

// resident returns the resident memory of the market in bytes.
func (d *day) resident() float64 {
	d.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.market.Process.Pid))
	if err != nil {
		d.Error(err)
		return math.NaN()
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kilobytes, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		d.Error(err)
	}
	return 1024 * kilobytes
}

// logged returns the size of the market's log in bytes, without the files that are reused.
func (d *day) logged() (sum float64) {
	d.Helper()
	entries, err := os.ReadDir(filepath.Join(d.dir, "lab", "log"))
	if err != nil {
		d.Error(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) != ".log" { // an error means that the file has been removed in the meantime
			sum += float64(info.Size())
		}
	}
	return sum
}
