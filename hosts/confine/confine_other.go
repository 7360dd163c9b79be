//go:build !linux

package confine

import (
	"errors"
	"os/exec"
)

// Prepare returns an error, because only Linux has namespaces and Landlock.
func Prepare(*exec.Cmd, []string) error { return errors.New("programs are confined on Linux only") }

// Main does nothing.
func Main() {}
