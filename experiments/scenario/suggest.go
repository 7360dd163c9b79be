package scenario

import "bourse/workloadgen/plugin"

// Unknown returns the message of [plugin.Unknown]: found is none of names.
func Unknown(found string, names []string) string { return plugin.Unknown(found, names) }
