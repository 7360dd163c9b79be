package scenario

import "bourse/workloadgen/config"

// Unknown returns the message of [config.Unknown]: found is none of names.
func Unknown(found string, names []string) string { return config.Unknown(found, names) }
