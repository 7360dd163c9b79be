package sim

import (
	"bourse/hosts"
	"bourse/hosts/slab"
)

// Lists supply memory for the tasks of machines. Machines that share one Lists need memory for
// the tasks running now, not for the most tasks that ever ran on each. Such machines must be
// used by one goroutine only. The zero value is empty.
type Lists struct {
	tasks  slab.Slab[task]
	shares slab.Slab[hosts.Share]
	rates  slab.Slab[float64]
}
