package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/plugins/contract"
)

// largestList bounds plugins.json and trust.json, in bytes.
const largestList = 16 << 20

var digestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Copied reports whether a file of a folder of plugins, named by its path in it, belongs to a copy
// of the folder. Compiled code does not: it runs without a check, and fits one machine.
func Copied(name string) bool {
	digest, isModule := strings.CutSuffix(name, ".wasm")
	return name == stateFile || name == TrustFile || isModule && digestPattern.MatchString(digest)
}

// CheckCopy checks the [Copied] files of a folder of plugins as installing them does: modules match
// their digests and the list, and those from a catalogue are signed by a key that the folder
// trusts. A listed module that is missing is not an error; a catalog lists it with its Problem.
func CheckCopy(folder fs.FS) error {
	keys, entries := map[string][]string{}, []Entry(nil)
	if err := readList(folder, TrustFile, &keys); err != nil {
		return err
	}
	if err := readList(folder, stateFile, &entries); err != nil {
		return err
	}
	files, err := fs.ReadDir(folder, ".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		if !Copied(f.Name()) || f.Name() == stateFile || f.Name() == TrustFile {
			continue
		}
		if _, err := readModule(folder, strings.TrimSuffix(f.Name(), ".wasm")); err != nil {
			return err
		}
	}
	for _, e := range entries {
		for _, v := range []*Version{e.Active, e.Waiting, e.Previous} {
			if v == nil {
				continue
			}
			if err := checkVersion(folder, e.Name, *v, keys); err != nil {
				return fmt.Errorf("plugin %s: %w", e.Name, err)
			}
		}
	}
	return nil
}

func readList(folder fs.FS, name string, into any) error {
	raw, err := readBounded(folder, name, largestList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// checkVersion compares a version of the list with its module.
func checkVersion(folder fs.FS, name string, v Version, keys map[string][]string) error {
	if !digestPattern.MatchString(v.Digest) {
		return fmt.Errorf("digest %.80q is not a SHA-256 in hexadecimal digits", v.Digest)
	}
	wasm, err := readModule(folder, v.Digest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	raw, _, err := contract.Section(wasm, contract.ManifestSection)
	if err != nil {
		return err
	}
	m, err := contract.ParseManifest(raw)
	if err != nil {
		return err
	}
	if m.Name != name || m.Version != v.Version {
		return fmt.Errorf("listed as version %s, but module %.12s is %s %s", v.Version, v.Digest, m.Name, m.Version)
	}
	if v.Source != Remote {
		return nil
	}
	_, err = Verify(wasm, keys)
	return err
}

// readModule reads a module and compares it with the digest in its name.
func readModule(folder fs.FS, digest string) ([]byte, error) {
	name := digest + ".wasm"
	wasm, err := readBounded(folder, name, maxModule)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("%s: content has another digest, %x", name, sum)
	}
	return wasm, nil
}

func readBounded(folder fs.FS, name string, most int64) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: larger than %d bytes", name, most)
	}
	return data, err
}
