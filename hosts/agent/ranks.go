//go:build linux

package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bourse/hosts/remote"
)

// arrayIndex is the only reserved variable that a job may set itself.
const arrayIndex = "BOURSE_ARRAY_INDEX"

// isReserved reports whether a job's variable, NAME=value, has a name that only the agent may
// set.
func isReserved(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, "BOURSE_") && name != arrayIndex
}

// layHosts writes the addresses of the nodes of t's contract to a file in the folder of t, one
// line per node. It does nothing if the contract has only one node.
func layHosts(t *task) error {
	if len(t.wanted.Peers) == 0 {
		return nil
	}
	return place(filepath.Join(t.folder, "dir"), remote.HostsFile, []byte(strings.Join(t.wanted.Peers, "\n")+"\n"))
}

// These are the files of the kernel that list sockets, with the state of the sockets that
// occupy their port; "" means any state.
var socketFiles = [...][2]string{{"tcp", "0A"}, {"tcp6", "0A"}, {"udp", ""}, {"udp6", ""}}

// busyEach is the time between two checks of the machine's sockets, in seconds.
const busyEach = 2

// busy returns the ports of the agent's range that are used by programs other than its tasks,
// in ascending order.
func (a *Agent) busy() []int32 {
	now := a.clock()
	if a.Offer.Ports[0] == 0 || a.Backend != nil || now < a.looked+busyEach && a.looked > 0 {
		return a.occupied
	}
	a.looked = now
	own := make(map[int32]bool)
	for _, t := range a.tasks {
		for n := range int32(remote.BlockPorts) {
			if t.runs() && t.record.Port > 0 {
				own[t.record.Port+n] = true
			}
		}
	}
	a.occupied = nil
	for _, f := range socketFiles {
		text, err := os.ReadFile("/proc/net/" + f[0])
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			field := strings.Fields(line)
			if len(field) < 4 || f[1] != "" && field[3] != f[1] {
				continue
			}
			_, hex, _ := strings.Cut(field[1], ":")
			port, err := strconv.ParseUint(hex, 16, 16)
			if p := int32(port); err == nil && p >= a.Offer.Ports[0] && p <= a.Offer.Ports[1] && !own[p] {
				a.occupied = append(a.occupied, p)
			}
		}
	}
	slices.Sort(a.occupied)
	a.occupied = slices.Compact(a.occupied)
	return a.occupied
}
