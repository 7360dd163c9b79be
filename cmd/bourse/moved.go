package main

import (
	"fmt"
	"slices"
	"strings"
)

// moved maps the commands of version 0.2 that have been renamed to their new names. The old
// names still work in this version.
var moved = map[string]string{
	"merge": "run merge",

	"tune": "study tune", "calibrate": "study calibrate", "incentives": "study incentives", "forecast": "study forecast",
	"reliability": "study availability", "advise": "study advise", "replay": "study replay",

	"reproduce": "paper run", "claims": "paper claims", "readings": "paper readings", "workload table1": "paper table1",

	"presets": "scenario list", "policies": "scenario options", "schema": "scenario schema --list",

	"witness": "ledger witness", "key new": "bank key",

	"market serve": "live serve", "market rotate": "live rotate", "host": "live host", "user": "live user", "agent": "live agent",
	"join": "live user join",

	"submit": "job submit", "quote": "job quote", "status": "job status", "logs": "job logs", "fetch": "job fetch",
	"cancel": "job cancel", "top": "job top", "price": "job price",
}

// gone maps each removed command to a sentence that names its replacement.
var gone = map[string]string{
	"findings":    "'bourse docs findings' lists the commands that answer the same questions",
	"fidelity":    "'bourse live export' writes the decisions of a market, so that you can compare them with a run; see 'bourse docs fidelity'",
	"live replay": "'bourse live export' writes a scenario, for 'bourse run' and 'bourse study replay'",
	"live follow": "a market writes a checkpoint when it stops, and the next version starts from it; see 'bourse docs upgrade'",
}

// today replaces an old command name in args with the current one. It also returns a line that
// reports the replacement, or an error if the command has been removed.
func today(args []string) ([]string, string, error) {
	for n := min(2, len(args)-1); n > 0; n-- {
		old := strings.Join(args[1:1+n], " ")
		if by, ok := gone[old]; ok {
			return args, "", usagef("'bourse %s' was removed: %s", old, by)
		}
		if now, ok := moved[old]; ok {
			return slices.Concat(args[:1], strings.Fields(now), args[1+n:]), fmt.Sprintf("bourse: 'bourse %s' is now 'bourse %s'; the old name will be removed", old, now), nil
		}
	}
	if len(args) > 1 && args[1] == "live" && !liveGroup(args[2:]) {
		return slices.Concat(args[:2], []string{"start"}, args[2:]), "bourse: 'bourse live' is now 'bourse live start'; the old name will be removed", nil
	}
	return args, "", nil
}

// liveGroup reports whether the words after live name the group or one of its commands. In
// version 0.2 these words would have started a market.
func liveGroup(words []string) bool {
	if len(words) == 0 {
		return false
	}
	for _, sub := range liveCommand().Subcommands {
		if sub.Name == words[0] {
			return true
		}
	}
	return slices.Contains([]string{"--help", "-h"}, words[0]) || strings.HasPrefix(words[len(words)-1], "--generate-")
}

// quieted reports whether args ask only for results.
func quieted(args []string) bool {
	for _, a := range args {
		switch a {
		case "--":
			return false
		case "--quiet", "-q", "--json":
			return true
		}
	}
	return false
}
