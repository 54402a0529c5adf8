// Command starling is a coding agent for the terminal and for CI whose every
// behaviour is a small Starlark plugin.
package main

import (
	"os"

	"starling/surfaces/cli"
)

func main() { os.Exit(cli.Main(os.Args, cli.System())) }
