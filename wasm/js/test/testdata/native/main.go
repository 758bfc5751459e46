// Command native plays every conformance case of a folder with the engine itself and prints the
// observation and the canvas, a line of JSON each, in the order of the file names. JavaScript would
// change the numbers and the order of keys of a canvas that it parsed.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "native:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	reg, err := engine.NewRegistry(append(component.Builtin(), enginetest.EchoToolSpec())...)
	if err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		c, err := enginetest.ParseCase(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		player := enginetest.Player{Registry: reg, Concurrency: 1}
		seen, err := player.Play(context.Background(), c)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Println(seen.JSON())
		fmt.Println(c.DSL.JSON())
	}
	return nil
}
