// Command servers starts the servers that hosts share, NATS and PostgreSQL, for tests in other
// languages. It prints their addresses, one line each, and stops them when its standard input ends.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	dir, err := os.MkdirTemp("", "easel-servers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := servertest.Build(dir, servertest.NATSPackage)
	if err != nil {
		return err
	}
	nats, err := servertest.StartNATS(program, dir)
	if err != nil {
		return err
	}
	defer nats.Kill()
	postgres, err := servertest.StartPostgres()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, postgres.Remove()) }()
	fmt.Printf("nats: %s\npostgres: %s\n", nats.URL, postgres.URL)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
