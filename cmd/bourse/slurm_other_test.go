//go:build !linux

package main

import (
	"errors"
	"testing"
)

type slurmCluster struct{}

func hasSlurm() error                        { return errors.New("no Slurm here: it needs Linux") }
func newSlurm(testing.TB, int) *slurmCluster { return nil }
func (*slurmCluster) conf() string           { return "" }
