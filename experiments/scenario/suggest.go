package scenario

import "bourse/workloadgen/plugin"

// OneOf lists what would be right, and guesses what was meant.
func OneOf(found string, names []string) string { return plugin.OneOf(found, names) }

// Nearest returns the name that was meant, or none, as [plugin.Nearest].
func Nearest(s string, names []string) string { return plugin.Nearest(s, names) }
