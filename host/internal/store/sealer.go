package store

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// sealer encrypts small values with AES-256-GCM. The location of a value (its kind, tenant and
// name) is authenticated as well, so that a sealed value moved to another row cannot be opened.
type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) (*sealer, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &sealer{aead}, nil
}

func place(parts []string) []byte { return []byte(strings.Join(parts, "\x00")) }

func (s *sealer) close(value []byte, at ...string) ([]byte, error) {
	return s.aead.Seal(nil, nil, value, place(at)), nil
}

func (s *sealer) open(sealed []byte, at ...string) ([]byte, error) {
	value, err := s.aead.Open(nil, nil, sealed, place(at))
	if err != nil {
		return nil, ErrWrongKey
	}
	return value, nil
}

// unlock reads the key file, or creates it, and compares it with the mark that the first key left
// in the database. It never creates a key for a database with a mark, since that would silently
// make its secrets unreadable.
func (s *database) unlock(ctx context.Context, file string) error {
	marks, err := queryAll(ctx, s.read, func(r row) (string, error) {
		var v string
		return v, r.Scan(&v)
	}, `SELECT value FROM meta WHERE name = 'key'`)
	if err != nil {
		return fail(err, "key mark")
	}
	key, err := readKey(file)
	if errors.Is(err, fs.ErrNotExist) {
		if len(marks) > 0 {
			return fail(ErrWrongKey, "key file %s is missing and the database has sealed values; take the file of the host that was first", file)
		}
		key, err = makeKey(file)
	}
	if err != nil {
		return fail(err, "key file %s", file)
	}
	if s.seal, err = newSealer(key); err != nil {
		return fail(err, "key file %s", file)
	}
	if len(marks) == 0 {
		return s.markKey(ctx, file)
	}
	return fail(s.fits(marks[0]), "key file %s", file)
}

func (s *database) fits(mark string) error {
	sealed, err := base64.StdEncoding.DecodeString(mark)
	if err != nil {
		return ErrCorrupt
	}
	_, err = s.seal.open(sealed, "mark")
	return err
}

// markKey stores the mark of the key; if another host was faster, its mark must match.
func (s *database) markKey(ctx context.Context, file string) error {
	sealed, err := s.seal.close(nil, "mark")
	if err != nil {
		return fail(err, "key mark")
	}
	const insert = `INSERT INTO meta (name, value) VALUES ('key', $1)
		ON CONFLICT (name) DO UPDATE SET value = meta.value RETURNING value`
	var mark string
	err = s.write(ctx, "key mark", func(ctx context.Context, q querier) error {
		return q.QueryRowContext(ctx, insert, base64.StdEncoding.EncodeToString(sealed)).Scan(&mark)
	})
	if err != nil {
		return err
	}
	return fail(s.fits(mark), "key file %s", file)
}

func readKey(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseKey(text)
}

func parseKey(text []byte) ([]byte, error) {
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("not 64 hex characters: %w", ErrInvalid)
	}
	return key, nil
}

// makeKey writes a new key atomically, and syncs it to disk before anything is sealed with it.
func makeKey(file string) ([]byte, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".key-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(hex.EncodeToString(key) + "\n")
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err != nil {
		return nil, err
	}
	// Unlike rename, link does not replace a key that another host has created.
	if err := os.Link(temp.Name(), file); errors.Is(err, fs.ErrExist) {
		return readKey(file)
	} else if err != nil {
		return nil, err
	}
	return key, syncDir(filepath.Dir(file))
}

// syncDir syncs the entries of a directory to disk.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // not supported
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
