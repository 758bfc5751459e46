package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/easel-canvas/easel/host/internal/backup"
)

// controlFile is a socket in the data directory, by which commands on this machine reach the host
// that uses the directory. Every user with read access to the directory may connect.
const controlFile = "control.sock"

// openControl listens at the socket. A host without one works, but cannot be backed up while it
// runs.
func (h *Host) openControl() error {
	if h.cfg.Dir == "" {
		return nil
	}
	file := filepath.Join(h.cfg.Dir, controlFile)
	// The run log's lock, or the operator of a shared one, guarantees that no other host uses the
	// directory: an existing socket is stale.
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("control socket: %w", err)
	}
	l, err := net.Listen("unix", file)
	if err != nil {
		h.cfg.Log.Warn("this host cannot be backed up while it works", "err", err)
		return nil
	}
	if err := os.Chmod(file, 0o600); err != nil {
		return errors.Join(fmt.Errorf("control socket: %w", err), l.Close())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /backup", h.serveBackup)
	h.control = &http.Server{
		Handler: mux, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(h.cfg.Log.Handler(), slog.LevelWarn),
	}
	h.work.Go(func() { _ = h.control.Serve(l) }) // ends with Close
	return nil
}

func (h *Host) closeControl() error {
	if h.control == nil {
		return nil
	}
	return h.control.Close()
}

// serveBackup writes an archive of this host. An interrupted one is not a valid zip file, which its
// reader detects.
func (h *Host) serveBackup(w http.ResponseWriter, r *http.Request) {
	if err := h.backup(r.Context(), w, r.URL.Query().Get("key") != "none"); err != nil {
		h.cfg.Log.Error("backup broke off", "err", err)
		panic(http.ErrAbortHandler)
	}
}

func (h *Host) backup(ctx context.Context, w http.ResponseWriter, withKey bool) error {
	s := backup.Source{Store: h.store, Files: h.files, Plugins: h.pluginFolder(), Version: h.cfg.Version}
	if withKey {
		s.KeyFile = h.cfg.KeyFile
		if s.KeyFile == "" {
			s.KeyFile = filepath.Join(h.cfg.Dir, "secret.key")
		}
	}
	return backup.Write(ctx, w, s)
}
