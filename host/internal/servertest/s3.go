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

// ErrNoS3 means that no S3 server is available; skip the test.
var ErrNoS3 = errors.New("put versitygw on the path: " +
	"go install github.com/versity/versitygw/cmd/versitygw@v1.8.0")

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
	program, err := exec.LookPath("versitygw")
	if err != nil {
		return nil, ErrNoS3
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
