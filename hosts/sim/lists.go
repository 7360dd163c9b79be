package sim

import (
	"bourse/hosts"
	"bourse/hosts/slab"
)

// Lists supply memory for the tasks of machines. Machines that share one Lists need memory only
// for the tasks running now: a machine returns memory when it runs fewer tasks. Such machines
// must be used by one goroutine only. The zero value is empty.
type Lists struct {
	tasks  slab.Slab[task]
	shares slab.Slab[hosts.Share]
	rates  slab.Slab[float64]
}
