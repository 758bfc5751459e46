package servertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// ErrNoS3 means that there is no S3 server; skip the test.
var ErrNoS3 = errors.New("run `make build/out/versitygw`, or put versitygw on the path")

// S3 is a Versity S3 gateway over a folder, with the bucket "easel".
type S3 struct {
	*Process
	Endpoint    string
	Key, Secret string
}

// StartS3 starts a server with its files below dir, on a file system with extended attributes.
//
// Errors: [ErrNoS3].
func StartS3(dir string) (*S3, error) {
	program, err := findS3()
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "easel"), 0o700); err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	s := &S3{Endpoint: "http://" + address, Key: "easel", Secret: "easel-secret"}
	cmd := exec.Command(program, "--port", address, "--access", s.Key, "--secret", s.Secret, "posix", dir)
	s.Process, err = Start(cmd)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), Patience)
	defer stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return s, conn.Close()
		}
		select {
		case <-s.Done():
			return nil, fmt.Errorf("versitygw ended: %s", s.Output())
		case <-ctx.Done():
			s.Kill()
			return nil, fmt.Errorf("versitygw is not ready: %w: %s", err, s.Output())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// findS3 finds the server on the path, or where the Makefile builds it: in build/out of a folder
// around that of the test.
func findS3() (string, error) {
	const name = "versitygw"
	if program, err := exec.LookPath(name); err == nil {
		return program, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if program, err := exec.LookPath(filepath.Join(dir, "build", "out", name)); err == nil {
			return program, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ErrNoS3
		}
		dir = parent
	}
}
