// Command easel runs agent canvases; see `easel help`. The logic is in host/internal/cli.
package main

import (
	"os"

	"github.com/easel-canvas/easel/host/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
