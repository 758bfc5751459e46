package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/disk"
)

const (
	// hostsFolder, in a folder of plugins, has two files for each host that uses it: one that the
	// host keeps locked while it runs, and one with the mark of the list that it has loaded.
	hostsFolder = "hosts"
	lockSuffix  = ".lock"
	ackPoll     = 20 * time.Millisecond
)

// OfHost reports whether a host has used the folder dir, whose [SettingsFile] it does not read.
func OfHost(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, hostsFolder))
	return err == nil
}

// Attach marks the folder as that of a running host, until detach. [Catalog.Watch] then
// acknowledges each change that it has loaded, for [Catalog.Await]. Call it before Watch.
func (c *Catalog) Attach() (detach func(), err error) {
	dir := filepath.Join(c.dir, hostsFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("plugin: attach host: %w", err)
	}
	f, err := os.CreateTemp(dir, "*"+lockSuffix)
	if err != nil {
		return nil, fmt.Errorf("plugin: attach host: %w", err)
	}
	if _, err := disk.TryLock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("plugin: attach host: %w", err), f.Close())
	}
	c.ack = strings.TrimSuffix(f.Name(), lockSuffix)
	return func() {
		_ = f.Close() // nothing was written that closing could lose
		forgetHost(f.Name())
	}, nil
}

// forgetHost removes the files of a host that has ended. What cannot be removed has no lock, and is
// removed by the next command.
func forgetHost(file string) {
	_ = os.Remove(strings.TrimSuffix(file, lockSuffix))
	_ = os.Remove(file)
}

// acknowledge records that the list with a mark is loaded.
func acknowledge(c *Catalog, mark string) {
	if c.ack == "" {
		return
	}
	if err := disk.Replace(c.ack, []byte(mark)); err != nil {
		c.host.cfg.Log.Warn("the change of plugins is loaded, but commands that wait for it are not notified",
			"err", err)
	}
}

// Await waits until each running host that uses the folder has loaded its list, at most until ctx
// ends. It returns the number of running hosts, and of those that have not.
func (c *Catalog) Await(ctx context.Context) (running, behind int, err error) {
	tick := time.NewTicker(ackPoll)
	defer tick.Stop()
	for {
		if running, behind, err = attached(c); err != nil || behind == 0 {
			return running, behind, err
		}
		select {
		case <-ctx.Done():
			return running, behind, nil
		case <-tick.C:
		}
	}
}

// attached counts the hosts whose files are locked, and removes the files of others.
func attached(c *Catalog) (running, behind int, err error) {
	locks, err := filepath.Glob(filepath.Join(c.dir, hostsFolder, "*"+lockSuffix))
	if err != nil {
		return 0, 0, err
	}
	for _, file := range locks {
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue // it has just ended
		}
		if err != nil {
			return 0, 0, fmt.Errorf("plugin: look for running hosts: %w", err)
		}
		ended, err := disk.TryLock(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return 0, 0, fmt.Errorf("plugin: look for running hosts: %w", err)
		}
		if ended {
			forgetHost(file)
			continue
		}
		running++
		if loaded, err := os.ReadFile(strings.TrimSuffix(file, lockSuffix)); err != nil || string(loaded) != c.Mark() {
			behind++
		}
	}
	return running, behind, nil
}
