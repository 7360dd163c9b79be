package scenario

import "bourse/workloadgen/plugin"

// Unknown returns the message of [plugin.Unknown]: found is none of names.
func Unknown(found string, names []string) string { return plugin.Unknown(found, names) }

// OneOf lists the valid names and suggests the nearest one, as [plugin.OneOf].
func OneOf(found string, names []string) string { return plugin.OneOf(found, names) }

// Nearest returns the name nearest to s, or an empty string, as [plugin.Nearest].
func Nearest(s string, names []string) string { return plugin.Nearest(s, names) }
