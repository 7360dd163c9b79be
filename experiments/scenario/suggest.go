package scenario

import "bourse/workloadgen/plugin"

// Unknown returns the message of [plugin.Unknown] for a name that is not in names.
func Unknown(found string, names []string) string { return plugin.Unknown(found, names) }
