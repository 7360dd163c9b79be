// Package confine runs a program that may be hostile. The program is in user, process, mount,
// IPC and network namespaces of its own and under Landlock. It sees the system's libraries and
// the files that it was given, both read-only, and an empty folder /tmp. Its data, processes,
// files and the sizes of files are limited. A kernel that lacks one of these is an error.
//
// The package is independent of the program's task.
package confine

// Limits of a confined program.
const (
	Data      = 1 << 30 // bytes of memory
	Processes = 64
	Files     = 64       // open files
	Space     = 16 << 20 // bytes of /tmp, and of each file
)

// role is the first argument of this program when it prepares itself for a confined program.
const role = "bourse-confined"

// A cell is the second argument.
type cell struct {
	Path   string // of the program
	Args   []string
	Folder string   // in which it starts
	Files  []string // that it may read
	Root   bool     // the user is root, so the program runs as nobody
}
