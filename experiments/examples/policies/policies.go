// Package policies contains example policies: scripts that decide in the same way as the
// built-in policies, and programs in two languages.
package policies

import "embed"

// Files are the examples.
//
//go:embed *.star *.py *.pl
var Files embed.FS
