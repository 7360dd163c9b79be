//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"bourse/hosts/remote"
)

// A Status is the status of a host in its market, with its tasks.
type Status struct {
	Host   string   `json:"host"`
	Market string   `json:"market"` // address of the market
	Kind   string   `json:"kind"`   // kind of kernel interface
	CPUs   float64  `json:"cpus"`   // processors offered
	Apart  bool     `json:"apart"`  // whether users are isolated
	Trust  []string `json:"trust"`  // accounts whose jobs the host accepts; set only if users are not isolated
	Tasks  []Shown  `json:"tasks"`  // sorted by name
}

// Shown describes the task that a folder stores.
type Shown struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	End     string   `json:"end,omitempty"` // how the task ended; unset while it is running
	Status  int      `json:"status"`        // exit status of the program
	Fault   string   `json:"fault,omitempty"`
	Used    float64  `json:"used"` // processor-seconds; set when the task has ended
}

// Show returns the content of a folder's files, whether or not an agent is using it.
func Show(dir string) (Status, error) {
	var m membership
	if there, err := get(filepath.Join(dir, "market.json"), &m); err != nil || !there {
		return Status{}, errors.Join(err, fmt.Errorf("%s: its host has joined no market", dir))
	}
	var o remote.Offer
	_, err := get(filepath.Join(dir, "offer.json"), &o)
	s := Status{Host: m.Host, Market: m.Address, Kind: o.Kind, CPUs: o.CPUs, Apart: o.Apart, Trust: append([]string{}, o.Trust...), Tasks: []Shown{}}
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
