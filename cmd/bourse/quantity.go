package main

import (
	"fmt"

	"bourse/workloadgen/config"

	"github.com/urfave/cli/v2"
)

// A quantity is the value of a flag that is a number of a unit, with which it may be
// written: 2h or 7200, 4GB or 4000000000.
type quantity struct {
	unit config.Unit
	x    float64
}

// Set implements [cli.Generic].
func (q *quantity) Set(s string) error {
	x, ok := q.unit.Parse(s)
	if !ok {
		return fmt.Errorf("found %q, want %s", s, q.unit.Want())
	}
	q.x = x
	return nil
}

// String implements [cli.Generic].
func (q *quantity) String() string {
	if q.x == 0 {
		return ""
	}
	return fmt.Sprint(q.x)
}

// quantityFlag is a flag of that unit.
func quantityFlag(name string, unit config.Unit, usage string) cli.Flag {
	return &cli.GenericFlag{Name: name, Value: &quantity{unit: unit}, Usage: usage}
}

// amount returns the value of a flag of quantityFlag, 0 if it was not given.
func amount(c *cli.Context, name string) float64 {
	if q, ok := c.Generic(name).(*quantity); ok {
		return q.x
	}
	return 0
}
