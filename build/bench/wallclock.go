package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/easel-canvas/easel/build/bench/wallclock"
)

// wallclockUnit is the duration of one unit of the shapes.
const wallclockUnit = 200 * time.Millisecond

const peersFolder = "build/bench/peers"

// wallclockPart measures wall time against critical paths.
func wallclockPart() error {
	dir, err := os.MkdirTemp("", "easel-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return wallclock.Report(context.Background(), os.Stdout, wallclockUnit, wallclock.Most, peers(dir))
}

// peers returns the other frameworks that can be installed here, with programs in dir; others are
// reported and left out.
func peers(dir string) []wallclock.Peer {
	var found []wallclock.Peer
	eino := filepath.Join(dir, "eino")
	build := exec.Command("go", "build", "-o", eino, ".")
	build.Dir, build.Env = peersFolder, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Printf("eino is left out: %v\n%s", err, out)
	} else {
		found = append(found, wallclock.Peer{Name: "eino", Command: peer("", eino)})
	}
	install := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = peersFolder
	if out, err := install.CombinedOutput(); err != nil {
		fmt.Printf("LangGraph is left out: %v\n%s", err, out)
	} else {
		found = append(found, wallclock.Peer{Name: "LangGraph JS", Command: peer(peersFolder, "node", "langgraph.mjs")})
	}
	return found
}

// peer returns a command that reads a graph and prints its duration in seconds.
func peer(dir, name string, args ...string) func(ctx context.Context, input []byte) ([]byte, error) {
	return func(ctx context.Context, input []byte) ([]byte, error) {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.Stdin, cmd.Stderr = dir, bytes.NewReader(input), os.Stderr
		return cmd.Output()
	}
}
