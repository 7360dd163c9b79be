// Package pgtest provides a PostgreSQL server to tests. The server has the URL in
// BOURSE_TEST_POSTGRES or is started in a temporary directory. A server that this package has
// started ends with the test process, even if the process is killed. Without a server, tests
// are skipped.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bourse/bank/store/postgres"

	"github.com/jackc/pgx/v5"
)

// Variable is the environment variable with the URL of a server to use.
const Variable = "BOURSE_TEST_POSTGRES"

// URL returns the URL of a ledger that does not exist yet, on a server that other tests may
// share. The ledger is removed after the test.
func URL(t testing.TB) string {
	t.Helper()
	u, drop, err := New()
	if errors.Is(err, errNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(drop)
	return u
}

var ledgers atomic.Int64

// New returns the URL of a ledger that does not exist yet, and a function that removes it.
func New() (ledgerURL string, drop func(), err error) {
	base := os.Getenv(Variable)
	if base == "" {
		s, err := shared()
		if err != nil {
			return "", nil, err
		}
		base = s.URL
	}
	u, err := postgres.WithLedger(base, fmt.Sprintf("test-%d-%d-%d-", os.Getpid(), time.Now().Unix(), ledgers.Add(1)))
	return u, func() { remove(u) }, err
}

// remove drops a ledger and all ledgers whose names start with its name.
func remove(ledgerURL string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := Connect(ctx, ledgerURL)
	if err != nil {
		return // the server has ended
	}
	defer conn.Close(ctx)
	ledger, err := postgres.Ledger(ledgerURL)
	if err != nil {
		return
	}
	rows, err := conn.Query(ctx, "select schema_name from information_schema.schemata where left(schema_name, length($1)) = $1", ledger)
	if err != nil {
		return
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return
	}
	for _, name := range names {
		if u, err := postgres.WithLedger(ledgerURL, name); err == nil {
			postgres.Drop(u)
		}
	}
}

// Found reports whether a server is available.
func Found() bool { return os.Getenv(Variable) != "" || programs() != "" }

// Exec executes a statement in the schema of a ledger.
func Exec(t testing.TB, ledgerURL, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := Connect(ctx, ledgerURL)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql, args...); err != nil {
		t.Errorf("%s: %v", sql, err)
	}
}

// Connect connects to the database of a ledger, in its schema.
func Connect(ctx context.Context, ledgerURL string) (*pgx.Conn, error) {
	ledger, err := postgres.Ledger(ledgerURL)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(ledgerURL)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	q.Del("ledger")
	q.Set("search_path", pgx.Identifier{ledger}.Sanitize())
	u.RawQuery = q.Encode()
	return pgx.Connect(ctx, u.String())
}

// A Server is a server used by a single test.
type Server struct {
	URL string // URL without a ledger

	dir, bin string
	as       *syscall.Credential
	stdin    io.Closer // closing this ends the server
	done     chan struct{}
}

var errNone = fmt.Errorf("no PostgreSQL: %s is not set and the program postgres was not found", Variable)

var shared = sync.OnceValues(func() (*Server, error) { return start() })

// Start starts a server that no other test uses and that ends with t.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := start()
	if errors.Is(err, errNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.stdin.Close()
		<-s.done
	})
	return s
}

func start() (*Server, error) {
	bin := programs()
	if bin == "" {
		return nil, errNone
	}
	s := &Server{bin: bin}
	var err error
	if s.dir, err = os.MkdirTemp("", "bourse-pg"); err != nil {
		return nil, err
	}
	if s.as, err = credential(); err != nil {
		return nil, err
	}
	if s.as != nil {
		if err := os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			return nil, err
		}
	}
	initdb := s.command("initdb", "-D", filepath.Join(s.dir, "data"), "-U", "bank", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	s.URL = "postgres://bank@/postgres?host=" + url.QueryEscape(s.dir)
	return s, s.Run()
}

// programs returns the directory of PostgreSQL's programs.
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// credential returns the user that runs the server, or nil for the current user. The server
// refuses to run as root.
func credential() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	var u *user.User
	var err error
	for _, name := range []string{"postgres", "nobody"} {
		if u, err = user.Lookup(name); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	if s.as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	}
	return cmd
}

// guard runs a server until its standard input ends, which happens when the test process ends.
const guard = `"$@" >log 2>&1 <&- & pid=$!; cat >/dev/null; kill -QUIT $pid; wait $pid; test -e "$0/keep" || rm -rf "$0"`

// Run starts a server that is not running.
func (s *Server) Run() error {
	cmd := s.command("postgres", "-D", "data", "-k", s.dir, "-c", "listen_addresses=", "-c", "max_connections=300", "-c", "unix_socket_permissions=0777")
	cmd.Args = append([]string{"sh", "-c", guard, s.dir}, append([]string{cmd.Path}, cmd.Args[1:]...)...)
	sh, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	cmd.Path = sh
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.stdin, s.done = stdin, make(chan struct{})
	go func() {
		cmd.Wait()
		close(s.done)
	}()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		conn, err := pgx.Connect(ctx, s.URL)
		if err == nil {
			conn.Close(ctx)
			cancel()
			return nil
		}
		cancel()
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			s.stdin.Close()
			return fmt.Errorf("postgres does not start: %w: %s", err, log)
		}
	}
}

// Crash stops the server immediately, as a power failure would. Run starts it again.
func (s *Server) Crash() error {
	keep := filepath.Join(s.dir, "keep")
	if err := os.WriteFile(keep, nil, 0o666); err != nil {
		return err
	}
	s.stdin.Close()
	<-s.done
	return os.Remove(keep)
}
