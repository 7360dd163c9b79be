package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

var manCommand = command(`man
print all commands as a man page

   bourse man | man -l -
   bourse man > /usr/local/share/man/man1/bourse.1`, func(c *cli.Context, _ *none) error {
	page, err := c.App.ToManWithSection(1)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.App.Writer, page)
	return err
})
