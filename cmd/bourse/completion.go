package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

const bashCompletion = `_bourse() {
  local cur="${COMP_WORDS[COMP_CWORD]}"
  local words=("${COMP_WORDS[@]:0:$COMP_CWORD}")
  COMPREPLY=($(compgen -W "$("${words[@]}" ${cur:+"$cur"} --generate-bash-completion 2>/dev/null)" -- "$cur"))
  [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o bashdefault -o default -F _bourse bourse
`

const zshCompletion = `#compdef bourse
_bourse() {
  local -a found
  found=("${(@f)$("${words[@]:0:#words[@]-1}" ${words[-1]:+"${words[-1]}"} --generate-bash-completion 2>/dev/null)}")
  if [[ -n "${found[1]}" ]]; then _describe bourse found; else _files; fi
}
compdef _bourse bourse
`

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a completion script",
		ArgsUsage: "bash|zsh",
		Description: `   source <(bourse completion bash)
   bourse completion zsh > "${fpath[1]}/_bourse"`,
		Action: func(c *cli.Context) error {
			if err := exactly(c, "bash or zsh"); err != nil {
				return err
			}
			scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion}
			script, ok := scripts[c.Args().First()]
			if !ok {
				return usagef("found %q, want bash or zsh", c.Args().First())
			}
			_, err := fmt.Fprint(c.App.Writer, script)
			return err
		},
	}
}
