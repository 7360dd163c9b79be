package sim

import (
	"bourse/hosts"
	"bourse/hosts/slab"
)

// Lists are the memory that machines take for their tasks. Machines that share it
// hold together what runs, not the most that ever ran on each; they are then of one
// goroutine. The zero value is empty.
type Lists struct {
	tasks  slab.Slab[task]
	shares slab.Slab[hosts.Share]
	rates  slab.Slab[float64]
}
