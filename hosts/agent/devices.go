//go:build linux

package agent

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The units of a countable resource, such as GPUs, are numbered from 0. A task holds its units
// from its start until none of its processes is left. The numbers of its units are in its
// task.json, so that a restarted agent does not assign them to another task.

const gpu = "gpu"

// Devices lists the device files of each unit of countable resources, by the name of the
// resource. A unit without a file has the name "".
type Devices map[string][]string

// DetectDevices returns the GPUs of this machine whose drivers create /dev/nvidia0,
// /dev/nvidia1 and so on, or nil if there are none.
func DetectDevices() Devices {
	var files []string
	for {
		file := "/dev/nvidia" + strconv.Itoa(len(files))
		if _, err := os.Stat(file); err != nil {
			break
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil
	}
	return Devices{gpu: files}
}

// counts returns the number of units of each resource that has at least one.
func (d Devices) counts() map[string]int32 {
	all := make(map[string]int32)
	for name, files := range d {
		if len(files) > 0 {
			all[name] = int32(len(files))
		}
	}
	return all
}

// assign returns the lowest free numbers for the wanted units. It returns an error if the
// machine has too few units. If too few are free now, ok is false.
func (a *Agent) assign(want map[string]int32) (numbers map[string][]int, ok bool, err error) {
	if len(want) == 0 || a.Backend != nil {
		return nil, true, nil
	}
	numbers = make(map[string][]int)
	for name, n := range want {
		if all := len(a.Devices[name]); int(n) > all {
			return nil, true, fmt.Errorf("found %d of %s wanted, want at most %d", n, name, all)
		}
		for unit := range a.Devices[name] {
			if len(numbers[name]) < int(n) && !a.taken(name, unit) {
				numbers[name] = append(numbers[name], unit)
			}
		}
		if len(numbers[name]) < int(n) {
			return nil, false, nil
		}
	}
	return numbers, true, nil
}

// taken reports whether a task holds the given unit. A task holds its units until its
// processes have ended.
func (a *Agent) taken(name string, unit int) bool {
	for _, t := range a.tasks {
		if !t.swept && slices.Contains(t.record.Numbers[name], unit) {
			return true
		}
	}
	return false
}

// files returns the device files of units with the given numbers, and all other device files.
func (d Devices) files(numbers map[string][]int) (held, others []string) {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		for unit, file := range d[name] {
			switch {
			case file == "":
			case slices.Contains(numbers[name], unit):
				held = append(held, file)
			default:
				others = append(others, file)
			}
		}
	}
	return held, slices.DeleteFunc(others, func(file string) bool { return slices.Contains(held, file) })
}

// visible returns the environment variables that list GPUs. The libraries of the GPU vendors
// read these variables.
func visible(gpus []int) []string {
	cuda, nvidia := "-1", "void"
	if len(gpus) > 0 {
		var all []string
		for _, n := range gpus {
			all = append(all, strconv.Itoa(n))
		}
		cuda = strings.Join(all, ",")
		nvidia = cuda
	}
	return []string{"CUDA_VISIBLE_DEVICES=" + cuda, "NVIDIA_VISIBLE_DEVICES=" + nvidia, "ROCR_VISIBLE_DEVICES=" + cuda}
}

// drivers returns the files that programs need in addition to the device files of their GPUs.
// If Slurm chooses the GPUs, it limits access to them, and drivers returns the device files of all
// GPUs.
func (r *record) drivers() (files []string) {
	if r.Units[gpu] == 0 {
		return nil
	}
	files = []string{"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/kfd"}
	if r.Spool {
		all, _ := filepath.Glob("/dev/nvidia[0-9]*") // the pattern is valid
		files = append(files, all...)
	}
	return files
}

// hide removes files of /dev from this mount namespace. It replaces /dev by a folder that
// contains all other entries. A file outside /dev is replaced by the null device.
func hide(files []string) error {
	type entry struct {
		name, target string // target of a symbolic link
		folder       bool
		tree         int
	}
	var all []entry
	defer func() {
		for _, e := range all {
			if e.target == "" {
				unix.Close(e.tree)
			}
		}
	}()
	within := false
	for _, file := range files {
		if filepath.Dir(file) == "/dev" {
			within = true
			continue
		}
		if _, err := os.Stat(file); err != nil {
			continue // the task cannot see this file
		}
		if err := unix.Mount("/dev/null", file, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hide %s: %w", file, err)
		}
	}
	if !within {
		return nil
	}
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return err
	}
	for _, d := range entries {
		path := "/dev/" + d.Name()
		if slices.Contains(files, path) {
			continue
		}
		e := entry{name: path, folder: d.IsDir()}
		if d.Type()&os.ModeSymlink != 0 {
			if e.target, err = os.Readlink(path); err != nil {
				return err
			}
		} else if e.tree, err = unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE); err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
		all = append(all, e)
	}
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC|unix.MS_NODEV, "mode=755"); err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	for _, e := range all {
		var err error
		switch {
		case e.target != "":
			err = os.Symlink(e.target, e.name)
		case e.folder:
			err = os.Mkdir(e.name, 0o755)
		default:
			err = os.WriteFile(e.name, nil, 0o600)
		}
		if err == nil && e.target == "" {
			err = unix.MoveMount(e.tree, "", unix.AT_FDCWD, e.name, unix.MOVE_MOUNT_F_EMPTY_PATH)
		}
		if err != nil {
			return fmt.Errorf("mount %s: %w", e.name, err)
		}
	}
	return unix.MountSetattr(-1, "/dev", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}
