// Package confine runs a program that may be hostile. The program has its own user, process,
// mount, IPC and network namespaces and is restricted by Landlock. The program sees an empty
// folder /tmp and, read-only, the system's libraries and the files given to it. Its memory,
// processes, open files and file sizes are limited. A filter of system calls prevents two
// confined programs from exchanging messages, except by the time that they take. A kernel that
// lacks one of these features causes an error.
//
// The package is independent of the program's task.
package confine

// The limits of a confined program.
const (
	Data      = 1 << 30 // maximum bytes of memory
	Processes = 64
	Files     = 64       // maximum number of open files
	Space     = 16 << 20 // maximum bytes of /tmp, and of each file
)

// role is the first argument of this program when it prepares itself for a confined program.
const role = "bourse-confined"

// A cell describes a confined program. The second argument of this program is a cell as JSON.
type cell struct {
	Path   string // path of the program
	Args   []string
	Folder string   // folder in which the program starts
	Files  []string // files that the program may read
	Root   bool     // whether the user is root; the program then runs as the user nobody
}
