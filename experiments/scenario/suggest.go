package scenario

import "bourse/workloadgen/plugin"

// Unknown says that found is none of names, as [plugin.Unknown].
func Unknown(found string, names []string) string { return plugin.Unknown(found, names) }

// OneOf lists what would be right, and guesses what was meant.
func OneOf(found string, names []string) string { return plugin.OneOf(found, names) }

// Nearest returns the name that was meant, or none, as [plugin.Nearest].
func Nearest(s string, names []string) string { return plugin.Nearest(s, names) }
