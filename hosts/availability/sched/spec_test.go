package sched

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/workloadgen/config"
)

// TestSpec checks both forms in which a file names a matchmaker, by name or with its options,
// and that the error for anything else states what was found.
func TestSpec(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"pps":                             "{pps map[]}",
		"threshold:":                      "{threshold map[]}",
		"threshold: {threshold: 0.8}":     "{threshold map[threshold:0.8]}",
		"{pps: {}, random: {}}":           "found a mapping without a name",
		"{}":                              "found a mapping without a name",
		"[pps]":                           "found a list",
		"threshold: 0.8":                  "options: found 0.8, want a mapping",
		"threshold: {threshold: 2}":       "threshold: found 2, want a number at least 0 and at most 1",
		"threshold: {at: 1}":              "at: unknown field",
		"{pps: {pps_tie: fewest}}":        "{pps map[pps_tie:fewest]}",
		"{best: {}}":                      "unknown matchmaker",
		"{threshold: {predictor: naive}}": "{threshold map[predictor:naive]}",
	} {
		var s config.Spec
		err := config.Read("", []byte(text), &s)
		if err == nil {
			_, err = Table(rand.New(rand.NewPCG(1, 2))).New(s.Name, s.Decode)
		}
		got := fmt.Sprint(s)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || (err == nil) != strings.HasPrefix(want, "{") {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	m, err := Table(nil).New("threshold", config.Spec{Options: map[string]any{"threshold": 0.75}}.Decode)
	if err != nil || m.(*Threshold).least != 0.75 {
		t.Errorf("a threshold of 0.75: %+v, %v", m, err)
	}
}

// TestWithdraw checks that a withdrawn job gets no host, whether it waits or is on hold, and
// that the other jobs keep their positions.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	o := DefaultQueue()
	o.Hold = 100
	q, err := NewQueue(o)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPool(make([]*availability.History, 9), false)
	for h := range hosts.ID(9) {
		p.Rise(0, h)
	}
	for job := range int32(6) {
		q.Submit(job, float64(job))
	}
	even := picky(func(_, length float64) bool { return int(length)%2 == 0 })
	q.Withdraw(2) // it waits
	if got := fmt.Sprint(q.Tick(0, p, even, nil)); got != "[{0 0} {4 1}]" {
		t.Errorf("placed %s, want 0 and 4", got)
	}
	q.Withdraw(3) // it is on hold
	q.Withdraw(4) // it runs
	if q.Len() != 2 {
		t.Errorf("%d wait, want 1 and 5", q.Len())
	}
	all := picky(func(float64, float64) bool { return true })
	if got := fmt.Sprint(q.Tick(100, p, all, nil), q.Len()); got != "[{1 2} {5 3}] 0" {
		t.Errorf("placed %s, want 1 and 5", got)
	}
}

// TestForgets checks that a queue discards holds that have ended, so it does not grow with the
// number of jobs that ever waited.
func TestForgets(t *testing.T) {
	t.Parallel()
	q, err := NewQueue(QueueOptions{Hold: 1, Mode: "skip", Resubmit: "tail"})
	if err != nil {
		t.Fatal(err)
	}
	p := NewPool(make([]*availability.History, 1), false)
	p.Rise(0, 0)
	q.Submit(0, 1)
	for now := range 10_000 {
		q.Tick(float64(now), p, picky(func(float64, float64) bool { return false }), nil)
	}
	if q.Len() != 1 || cap(q.held) > 1000 {
		t.Errorf("%d jobs wait, and there is room for %d holds, want 1 and at most 1000", q.Len(), cap(q.held))
	}
}
