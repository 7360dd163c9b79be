//go:build unix

package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// causes are the errors of a failing disk.
var causes = []error{syscall.ENOSPC, syscall.EIO, syscall.EFBIG, io.ErrShortWrite}

// A series is a number of runs on a disk that fails with one error. The first run fails from
// write From on, the next from write From + Every on, and so on. The series ends after Most
// runs, or after a run that ended before the failing write.
type series struct{ Cause, From, Every, Most int }

// A seriesOutcome is the number of failed runs of a series, with a description of each fault.
type seriesOutcome struct {
	Runs int
	Errs []string
}

// TestDiskErrors checks that after a disk failure at any operation, no request is answered that
// was not stored, and that the bank opens again once the disk works. A bank whose disk has
// failed does not end by itself, unlike a process, so each series has its own process.
func TestDiskErrors(t *testing.T) {
	t.Parallel()
	const most = 100
	every, least := 11, 1
	if *whole {
		every, least = 1, 2400
	}
	failures := make(map[error]int)
	total := 0
	// In each pass, the requests arrive in a different order.
	for pass := 0; total < least && !t.Failed(); pass++ {
		for i, cause := range causes {
			s := series{i, 1, every, most}
			for more := true; more && (pass == 0 || total < least); s.From += most * every {
				o := s.apart(t)
				for _, err := range o.Errs {
					t.Error(err)
				}
				failures[cause] += o.Runs
				total += o.Runs
				more = o.Runs == most
			}
		}
	}
	t.Logf("%d runs with a disk that fails: %v", total, failures)
}

// apart runs the series in a separate process.
func (s series) apart(t *testing.T) (o seriesOutcome) {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BANK_DISK="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &o)
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// runSeries runs the series in text and prints its outcome.
func runSeries(text string) {
	var s series
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	var o seriesOutcome
	for o.Runs < s.Most {
		hit, err := failing(causes[s.Cause], int64(s.From+o.Runs*s.Every))
		if err != nil {
			o.Errs = append(o.Errs, err.Error())
		}
		if !hit {
			break
		}
		o.Runs++
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		panic(err)
	}
}

// failing runs the workload on a disk that fails from write at on. It reports whether the disk
// failed, and any promise that was then broken.
func failing(cause error, at int64) (came bool, err error) {
	mem := vfs.NewCrashableMem()
	a := &answers{receipts: make(map[string]Receipt)}
	var ops atomic.Int64
	var hit atomic.Bool
	fs := vfs.FS(shortFS{mem, func() bool { return cause == io.ErrShortWrite && ops.Load() >= at }})
	fs = errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || ops.Add(1) < at {
			return nil
		}
		hit.Store(true)
		if cause == io.ErrShortWrite && (op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpFileWriteAt) {
			return nil // shortFS writes only the first half
		}
		return cause
	}))
	died := make(chan struct{})
	finished := make(chan struct{})
	var once sync.Once
	go func() {
		defer close(finished)
		workload(fs, false, func(error) {
			once.Do(func() { close(died) })
			select {}
		}, a)
	}()
	select {
	case <-died: // A real process would have ended here.
	case <-finished:
	}
	if !hit.Load() {
		return false, nil
	}
	acked := a.copy()
	for _, level := range []int{0, 100} {
		clone := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: level, RNG: rand.New(rand.NewPCG(1, 1))})
		if e := recovered(clone, false, acked); e != nil {
			err = errors.Join(err, fmt.Errorf("%v from write %d on, %d %% surviving: %w", cause, at, level, e))
		}
	}
	return true, err
}

// A shortFS writes only the first half of each write once short returns true.
type shortFS struct {
	vfs.FS
	short func() bool
}

func (fs shortFS) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return shortFile{f, fs.short}, nil
}

func (fs shortFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(fs.FS.Create(name, c))
}

func (fs shortFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(fs.FS.ReuseForWrite(from, to, c))
}

func (fs shortFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(fs.FS.OpenReadWrite(name, c, opts...))
}

type shortFile struct {
	vfs.File
	short func() bool
}

func (f shortFile) Write(b []byte) (int, error) {
	if !f.short() {
		return f.File.Write(b)
	}
	n, err := f.File.Write(b[:len(b)/2])
	return n, errors.Join(io.ErrShortWrite, err)
}

func (f shortFile) WriteAt(b []byte, at int64) (int, error) {
	if !f.short() {
		return f.File.WriteAt(b, at)
	}
	n, err := f.File.WriteAt(b[:len(b)/2], at)
	return n, errors.Join(io.ErrShortWrite, err)
}
