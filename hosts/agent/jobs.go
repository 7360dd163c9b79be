//go:build linux

package agent

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bourse/hosts/remote"
)

// Jobs and their files are stored under their SHA-256, each in blobs/SHA.

// mostJob is the maximum length of a job in bytes.
const mostJob = 128 << 10

// job returns the job with the given SHA-256. It also returns the blobs that must still be
// fetched, and an error if the job can never start.
func (a *Agent) job(sha string) (job *remote.Job, lacks []string, bad error) {
	job = new(remote.Job)
	text, err := os.ReadFile(a.blob(sha))
	if err != nil {
		lacks, bad = a.without(sha, err)
		return job, lacks, bad
	}
	if len(text) > mostJob {
		return job, nil, fmt.Errorf("job %s: found %d bytes, want at most %d", sha, len(text), mostJob)
	}
	if err := json.Unmarshal(text, job); err != nil {
		return job, nil, fmt.Errorf("job %s: %w", sha, err)
	}
	for _, file := range job.Files {
		if _, err := os.Stat(a.blob(file)); err != nil {
			l, b := a.without(file, err)
			lacks, bad = append(lacks, l...), errors.Join(bad, b)
		}
	}
	return job, lacks, bad
}

// without handles a blob that cannot be read. Either the blob must be fetched, or err explains
// why fetching it is useless.
func (a *Agent) without(sha string, err error) (lacks []string, bad error) {
	if bad := a.bad[sha]; bad != nil || !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(bad, err)
	}
	return []string{sha}, nil
}

// blob returns the path of a blob. For an invalid SHA-256 it returns a path that does not
// exist.
func (a *Agent) blob(sha string) string {
	if b, err := hex.DecodeString(sha); err != nil || len(b) != sha256.Size {
		return a.path("blobs", "none")
	}
	return a.path("blobs", strings.ToLower(sha))
}

// keep stores fetched data if the data match the hash.
func (a *Agent) keep(sha string, data []byte) error {
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != sha {
		a.bad[sha] = fmt.Errorf("what came as %s is %s", sha, got)
		return nil
	}
	path := a.blob(sha)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// lay copies files into the folder of a task, owned by user.
func (a *Agent) lay(dir string, files map[string]string, user int) error {
	for name, sha := range files {
		name, tree := strings.CutSuffix(name, "/")
		if name != filepath.Base(name) || !filepath.IsLocal(name) || name == "." {
			return fmt.Errorf("file %q: want a name without folders", name)
		}
		data, err := os.ReadFile(a.blob(sha))
		if err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		if tree {
			if err := layTree(path, data, user); err != nil {
				return fmt.Errorf("folder %q: %w", name, err)
			}
			continue
		}
		if err := os.WriteFile(path, data, 0o700); err != nil {
			return err
		}
		if user > 0 {
			if err := os.Chown(path, user, user); err != nil {
				return err
			}
		}
	}
	return nil
}

// layTree unpacks a folder of a job, which is a tar stream, owned by user.
func layTree(path string, data []byte, user int) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := unpack(root, ".", tar.NewReader(bytes.NewReader(data)), int64(len(data)), user); err != nil || user == 0 {
		return err
	}
	return os.Chown(path, user, user)
}

// sweepBlobs removes blobs that were fetched long ago. They are fetched again when needed.
func (a *Agent) sweepBlobs() error {
	entries, err := os.ReadDir(a.path("blobs"))
	for _, e := range entries {
		info, wrong := e.Info()
		if wrong == nil && time.Since(info.ModTime()).Seconds() > a.Keep {
			err = errors.Join(err, os.Remove(a.path("blobs", e.Name())))
		}
	}
	return err
}
