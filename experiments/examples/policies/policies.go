// Package policies contains example policies: scripts that decide as the built-in policies do,
// and programs in two languages.
package policies

import "embed"

// Files are the examples.
//
//go:embed *.star *.py *.pl
var Files embed.FS
