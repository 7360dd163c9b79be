//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"bourse/hosts/remote"
)

// A Standing is what a host is to its market, and what is on it.
type Standing struct {
	Host   string   `json:"host"`
	Market string   `json:"market"` // its address
	Kind   string   `json:"kind"`   // of kernel
	CPUs   float64  `json:"cpus"`   // processors offered
	Apart  bool     `json:"apart"`  // users are kept apart
	Trust  []string `json:"trust"`  // accounts of whom alone it takes jobs, if not
	Tasks  []Shown  `json:"tasks"`  // in the order of names
}

// Shown is a task of a folder.
type Shown struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	End     string   `json:"end,omitempty"` // none while it runs
	Status  int      `json:"status"`        // of its program
	Fault   string   `json:"fault,omitempty"`
	Used    float64  `json:"used"` // processor-seconds, when it has ended
}

// Show returns what the files of a folder say, whether an agent uses it or not.
func Show(dir string) (Standing, error) {
	var m membership
	if there, err := get(filepath.Join(dir, "market.json"), &m); err != nil || !there {
		return Standing{}, errors.Join(err, fmt.Errorf("%s: its host has joined no market", dir))
	}
	var o remote.Offer
	_, err := get(filepath.Join(dir, "offer.json"), &o)
	s := Standing{Host: m.Host, Market: m.Address, Kind: o.Kind, CPUs: o.CPUs, Apart: o.Apart, Trust: append([]string{}, o.Trust...), Tasks: []Shown{}}
	folders, wrong := os.ReadDir(filepath.Join(dir, "tasks"))
	err = errors.Join(err, wrong)
	for _, f := range folders {
		var r record
		var e exit
		_, wrong := get(filepath.Join(dir, "tasks", f.Name(), "task.json"), &r)
		ended, wrong2 := get(filepath.Join(dir, "tasks", f.Name(), "exit.json"), &e)
		t := Shown{Name: f.Name(), Command: append([]string{}, r.Job.Command...), Status: e.Status, Fault: e.Fault, Used: e.Used}
		if ended {
			t.End = e.Why.String()
		}
		s.Tasks, err = append(s.Tasks, t), errors.Join(err, wrong, wrong2)
	}
	return s, err
}
