package servertest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"time"
)

// awaitDatabase waits until a database server accepts connections. Errors call the server name.
func (p *Process) awaitDatabase(driver, url, name string) error {
	db, err := sql.Open(driver, url)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, stop := context.WithTimeout(context.Background(), Patience)
	defer stop()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-p.Done():
			return fmt.Errorf("%s ended: %s", name, p.Output())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: %s", name, err, p.Output())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ownDir makes the user that find returns the owner of a directory, and returns the credential of
// that user. It does so only when the tests run as root, as whom database servers refuse to run.
func ownDir(dir string, find func() (*user.User, error)) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := find()
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}
