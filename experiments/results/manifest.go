package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"

	"bourse/bank/whole"

	"golang.org/x/sync/errgroup"
)

const (
	manifestName = "manifest.json"
	scenarioName = "scenario.yaml"
	kind         = "bourse results"

	// Format is the version of the layout of results directories and of their columns. Older
	// formats can be read. Format 1 has fewer columns of jobs, and format 2 has an estimate
	// for every job. Formats before 4 have neither penalty_owed nor the trials of metrics.
	Format = 4
)

// A Manifest describes how a results directory was made, and its contents. The writer sets the
// fields that follow Claims.
type Manifest struct {
	Command      []string          `json:"command"`         // command that repeats the run
	Scenario     string            `json:"scenario"`        // text of the scenario as it was run, with every default
	Seed         uint64            `json:"seed,string"`     // text, because some JSON readers round large numbers
	Replications int               `json:"replications"`    // per configuration and policy
	WallSeconds  float64           `json:"wall_seconds"`    // wall time of the run, in seconds
	Inputs       map[string]string `json:"inputs"`          // SHA-256 hash of every input file, by the path as it was given
	Ledgers      map[string]string `json:"ledgers"`         // head of every stored journal, keyed by its directory
	Alike        []string          `json:"alike,omitempty"` // configurations whose replications all have the same jobs and hosts

	// Claims are the hashes of the claims about the results, as registered when the results
	// were made. For each paper, there is a hash of claims.yaml under the paper's name, and a
	// hash of each claim. Older results have no claims.
	Claims map[string]map[string]string `json:"claims,omitempty"`

	Kind           string              `json:"kind"`
	Format         int                 `json:"format"`
	Rules          int                 `json:"rules"` // version of the charging rules, see [Rules]; 1 if not recorded
	ScenarioSHA256 string              `json:"scenario_sha256"`
	Version        Version             `json:"version"`
	Columns        map[string][]Column `json:"columns"` // columns of each file, in order
	Outputs        map[string]Output   `json:"outputs"` // size and hash of each output, by path; the manifest is not included
}

// An Output is the size and hash of a file of the directory.
type Output struct {
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// A Version identifies a program. A field is "unknown" if its value is unknown.
type Version struct {
	Module   string            `json:"module"`
	Version  string            `json:"version"`
	Revision string            `json:"revision"`
	Modified string            `json:"modified"` // "true" if the source differed from the revision
	Go       string            `json:"go"`
	Platform string            `json:"platform"` // operating system and architecture
	Modules  map[string]string `json:"modules"`  // version of every module in the build, keyed by path
}

// Release is the newest version in CHANGELOG.md.
const Release = "0.3.0-dev"

// BuildVersion returns the version of the running program.
func BuildVersion() Version {
	v := Version{
		Module: "unknown", Version: Release, Revision: "unknown", Modified: "unknown",
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Modules: map[string]string{},
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	known := func(field *string, s string) {
		if s != "" {
			*field = s
		}
	}
	known(&v.Module, info.Main.Path)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			known(&v.Revision, s.Value)
		case "vcs.modified":
			known(&v.Modified, s.Value)
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		v.Modules[m.Path] = m.Version
	}
	return v
}

// HashFile returns the SHA-256 hash of a regular file in hexadecimal digits, as used in
// Manifest.Inputs.
func HashFile(path string) (string, error) {
	o, err := hashFile(path)
	return o.SHA256, err
}

func hashFile(path string) (Output, error) {
	f, err := whole.Open(path)
	if err != nil {
		return Output{}, err
	}
	defer f.Close()
	return sum(path, f)
}

// sum returns the hash of the contents of in. Errors contain path.
func sum(path string, in io.Reader) (Output, error) {
	h := sha256.New()
	n, err := io.Copy(h, in)
	if err != nil {
		return Output{}, fmt.Errorf("hash %s: %w", path, err)
	}
	return Output{n, hex.EncodeToString(h.Sum(nil))}, nil
}

func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// outputs returns the size and hash of every file under dir except the manifest. For files
// in known, it uses the hashes there.
func outputs(dir string, known map[string]Output) (map[string]Output, error) {
	found := make(map[string]Output)
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == manifestName {
			return err
		}
		if !e.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		name = filepath.ToSlash(name)
		all.Go(func() (err error) {
			out, ok := known[name]
			if !ok {
				out, err = hashFile(path)
			}
			mu.Lock()
			defer mu.Unlock()
			found[name] = out
			return err
		})
		return nil
	})
	return found, errors.Join(err, all.Wait())
}

// These are the maximum sizes of files that are read into memory as a whole. Files written by
// runs are far smaller.
const (
	maxManifest = 1 << 28
	maxTable    = 1 << 30
)

// readManifest reads the manifest of dir and computes its hash. The error is
// [ErrNotResults] if there is no manifest or if another program wrote it.
func readManifest(dir string) (m Manifest, digest string, err error) {
	path := filepath.Join(dir, manifestName)
	b, err := whole.Read(path, maxManifest)
	if errors.As(err, new(*whole.KindError)) {
		return m, "", fmt.Errorf("%w: %w", ErrNotResults, err)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return m, "", fmt.Errorf("%s: %w: it has no %s", dir, ErrNotResults, manifestName)
	}
	if err != nil {
		return m, "", err
	}
	var head struct {
		Kind          string
		Format, Rules int
	}
	if err := json.Unmarshal(b, &head); err != nil || head.Kind != kind {
		return m, "", fmt.Errorf("%s: %w: the %s has a different kind", dir, ErrNotResults, manifestName)
	}
	if head.Format < 1 || head.Format > Format {
		return m, "", fmt.Errorf("%s has format %d, want %d; run the experiment again with this version", path, head.Format, Format)
	}
	if head.Rules < 0 || head.Rules > Rules {
		return m, "", fmt.Errorf("%s has rules of version %d, want at most %d; use a newer version of bourse", path, head.Rules, Rules)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, "", fmt.Errorf("%s: %w", path, err)
	}
	m.Rules = max(1, m.Rules)
	return m, hashText(string(b)), nil
}
