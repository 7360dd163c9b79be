//go:build linux

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A notice informs a program that it will be killed. The supervisor writes it to the file notice
// in the task's folder before it sends SIGTERM.
type notice struct {
	Reason string  `json:"reason"`
	In     float64 `json:"in"` // seconds until the program is killed
}

// Reasons of a notice.
const (
	byDeadline = "deadline"
	byMove     = "moved" // the contract starts again on other hosts
	byDrain    = "drained"
	byOwner    = "cancelled"
)

// notify writes a notice and sends SIGTERM to the process group of the command. Unless the
// owner has requested the notice, the signal is sent only if a process of the group handles
// SIGTERM, because it would end other programs early for no reason.
func (m *supervisor) notify(n notice, asked bool) {
	n.In = math.Round(10*max(0, n.In)) / 10
	text, err := json.Marshal(n)
	if err == nil {
		err = place(filepath.Join(m.folder, "dir"), "notice", append(text, '\n'))
	}
	if err != nil {
		m.lack("notice", err)
	}
	if asked || handlesTerm(m.main) {
		unix.Kill(-m.main, unix.SIGTERM)
	}
}

// place writes a file into a folder that a program controls. It replaces any entry with this
// name, and does not follow links.
func place(dir, name string, text []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	beside := "." + name
	if err := root.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(beside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(beside, name)
	}
	return err
}

// handlesTerm reports whether a process of a process group catches, blocks or ignores SIGTERM.
func handlesTerm(group int) bool {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var state string
		var parent, of int
		if _, err := fmt.Sscan(string(text[strings.LastIndexByte(string(text), ')')+1:]), &state, &parent, &of); err != nil || of != group {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		for line := range strings.Lines(string(status)) {
			switch name, mask, _ := strings.Cut(strings.TrimSpace(line), ":\t"); name {
			case "SigBlk", "SigIgn", "SigCgt":
				if bits, err := strconv.ParseUint(mask, 16, 64); err == nil && bits>>(unix.SIGTERM-1)&1 == 1 {
					return true
				}
			}
		}
	}
	return false
}
