package scenario

import "bourse/workloadgen/config"

// Unknown returns the message of [config.Unknown]: found is none of names.
func Unknown(found string, names []string) string { return config.Unknown(found, names) }

// OneOf lists the valid names and suggests the nearest one, as [config.OneOf].
func OneOf(found string, names []string) string { return config.OneOf(found, names) }

// Nearest returns the name nearest to s, or an empty string, as [config.Nearest].
func Nearest(s string, names []string) string { return config.Nearest(s, names) }
