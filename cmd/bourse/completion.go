package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"bourse/bank/export"
	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

const bashCompletion = `_bourse() {
  local cur="${COMP_WORDS[COMP_CWORD]}" IFS=$'\n'
  local words=("${COMP_WORDS[@]:0:$COMP_CWORD}") ask="$cur"
  [[ $ask == -- ]] && ask=-
  COMPREPLY=($(compgen -W "$("${words[@]}" "$ask" --generate-bash-completion 2>/dev/null)" -- "$cur"))
  [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o bashdefault -o default -F _bourse bourse
`

const zshCompletion = `#compdef bourse
_bourse() {
  local -a found
  local ask="${words[CURRENT]}"
  [[ $ask == -- ]] && ask=-
  found=("${(@f)$("${(@)words[1,CURRENT-1]}" "$ask" --generate-bash-completion 2>/dev/null)}")
  if [[ -n "${found[1]}" ]]; then _describe bourse found; else _files; fi
}
if [[ $funcstack[1] == _bourse ]]; then _bourse; else compdef _bourse bourse; fi
`

const fishCompletion = `function __bourse
  set -l words (commandline -opc)
  set -l ask (commandline -ct)
  switch "$ask"
    case --
      set ask -
  end
  set -l found ($words "$ask" --generate-bash-completion 2>/dev/null)
  if test -n "$found"
    printf '%s\n' $found
  else
    __fish_complete_path "$ask"
  end
end
complete -c bourse -f -a '(__bourse)'
`

// completions returns the completion scripts, keyed by shell.
func completions() map[string]string {
	return map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
}

var completionCommand = command(`completion bash|zsh|fish
print a completion script

   source <(bourse completion bash)
   bourse completion zsh > "${fpath[1]}/_bourse"
   bourse completion fish > ~/.config/fish/completions/bourse.fish`, func(c *cli.Context, _ *none) error {
	script, ok := completions()[c.Args().First()]
	if !ok {
		return usagef("found %q, want bash, zsh or fish", c.Args().First())
	}
	_, err := fmt.Fprint(c.App.Writer, script)
	return err
})

// asksCompletion reports whether args are a shell's request for completions.
func asksCompletion(args []string) bool { return args[len(args)-1] == "--generate-bash-completion" }

// complete prints the possible completions of the last word of args if the word is a value
// with known choices. The flag parser itself completes commands and flags.
func complete(out io.Writer, commands []*cli.Command, args []string) bool {
	n := len(args) - 2
	if n < 1 || !asksCompletion(args) {
		return false
	}
	before, word := args[1:n], args[n]
	var names []string
	switch command := strings.Join(before, " "); {
	case strings.HasPrefix(command, "scenario schema --json-of"):
		names = nextWords(commands, before[3:])
	case len(before) > 0 && strings.HasPrefix(before[len(before)-1], "--"):
		names = valuesOf(before[len(before)-1])
	case strings.HasPrefix(word, "-"):
	case command == "scenario options":
		names = familyNames()
	case command == "docs":
		for _, p := range docPages() {
			names = append(names, p.Topic)
		}
	case command == "scenario show":
		names = papers.Names()
	case command == "workload generate":
		names = experiments.NamesOf("model")
	case command == "completion":
		names = slices.Sorted(maps.Keys(completions()))
	}
	for _, name := range names {
		if strings.HasPrefix(name, word) {
			fmt.Fprintln(out, name)
		}
	}
	return names != nil
}

// valuesOf returns the valid values of a flag, if they are few.
func valuesOf(flag string) []string {
	switch flag {
	case "--preset":
		return papers.Names()
	case "--reservation":
		return experiments.NamesOf("admission")
	case "--format":
		return export.Formats()
	case "--availability-format":
		return scenario.Formats()
	case "--model":
		return experiments.NamesOf("availability")
	case "--color":
		return []string{"auto", "always", "never"}
	case "--aggregate":
		return []string{"day"}
	}
	return nil
}
