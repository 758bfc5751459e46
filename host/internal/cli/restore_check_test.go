package cli

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// extend copies an archive and adds entries to it.
func extend(t *testing.T, file string, add func(z *zip.Writer)) string {
	t.Helper()
	in, err := zip.OpenReader(file)
	require.NoError(t, err)
	defer in.Close()
	path := filepath.Join(t.TempDir(), "extended.zip")
	out, err := os.Create(path)
	require.NoError(t, err)
	z := zip.NewWriter(out)
	for _, e := range in.File {
		require.NoError(t, z.Copy(e))
	}
	add(z)
	require.NoError(t, z.Close())
	require.NoError(t, out.Close())
	return path
}

func putEntry(t *testing.T, z *zip.Writer, header zip.FileHeader, data string) {
	t.Helper()
	w, err := z.CreateHeader(&header)
	require.NoError(t, err)
	_, err = io.WriteString(w, data)
	require.NoError(t, err)
}

// archivedWithPlugin returns a backup of a host with the example plugin.
func archivedWithPlugin(t *testing.T) (file string, place []string) {
	t.Helper()
	_, place = archived(t)
	installTable(t, place)
	file = filepath.Join(t.TempDir(), "plugin.zip")
	out, err := commandIn(t, append([]string{"backup", file}, place...)...)
	require.NoError(t, err, out)
	return file, place
}

// Machine code and other entries that hosts do not store stay in the archive.
func TestRestoreLeavesOutWhatNoHostKeeps(t *testing.T) {
	file, place := archivedWithPlugin(t)
	require.DirExists(t, filepath.Join(place[1], "plugins", "cache"), "the plugin was compiled")
	in, err := zip.OpenReader(file)
	require.NoError(t, err)
	for _, e := range in.File {
		require.NotContains(t, e.Name, "cache")
	}
	require.NoError(t, in.Close())

	foreign := []string{
		"plugins/cache/wazero-v1/" + strings.Repeat("a", 64), "plugins/.lock", "plugins/tool.sh",
		"easel.db", "nats/x",
	}
	file = extend(t, file, func(z *zip.Writer) {
		for _, name := range foreign {
			putEntry(t, z, zip.FileHeader{Name: name}, "machine code")
		}
	})
	target := filepath.Join(t.TempDir(), "target")
	out, err := commandIn(t, "restore", file, "--data", target)
	require.NoError(t, err, out)
	require.Contains(t, out, "skipped 5 entries that are not part of a backup")
	require.Contains(t, out, foreign[0])
	require.NoError(t, filepath.WalkDir(target, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotEqual(t, "machine code", string(data), path)
			if strings.HasPrefix(path, filepath.Join(target, "plugins")) || filepath.Base(path) == "secret.key" {
				info, err := d.Info()
				require.NoError(t, err)
				require.Equal(t, fs.FileMode(0o600), info.Mode(), path)
			}
		}
		return nil
	}))
	out, err = commandIn(t, "plugin", "list", "--plugins", filepath.Join(target, "plugins"))
	require.NoError(t, err, out)
	require.Contains(t, out, "table")
}

// Problems of an archive are reported before the target is changed.
func TestRestoreChecksEntries(t *testing.T) {
	file, place := archivedWithPlugin(t)
	change := func(name string, f func(data []byte) []byte) string {
		return rewrite(t, file, func(n string, data []byte) (string, []byte) {
			if match, _ := filepath.Match(name, n); match {
				data = f(data)
			}
			return n, data
		})
	}
	replaced := func(name, old, with string) string {
		return change(name, func(data []byte) []byte {
			require.Contains(t, string(data), old)
			return bytes.ReplaceAll(data, []byte(old), []byte(with))
		})
	}
	wasm := "plugins/*.wasm"
	for _, c := range []struct{ name, file, want string }{
		{"a symbolic link", extend(t, file, func(z *zip.Writer) {
			h := zip.FileHeader{Name: "plugins/trust.json"}
			h.SetMode(fs.ModeSymlink | 0o777)
			putEntry(t, z, h, "/etc/passwd")
		}), "plugins/trust.json is not a regular file"},
		{"a device", extend(t, file, func(z *zip.Writer) {
			h := zip.FileHeader{Name: "files/t/x"}
			h.SetMode(fs.ModeDevice | 0o600)
			putEntry(t, z, h, "")
		}), "files/t/x is not a regular file"},
		{"an absolute path", extend(t, file, func(z *zip.Writer) {
			putEntry(t, z, zip.FileHeader{Name: "/etc/cron.d/x"},
				"")
		}), `entry "/etc/cron.d/x"`},
		{"a Windows path", extend(t, file,
			func(z *zip.Writer) { putEntry(t, z, zip.FileHeader{Name: `plugins\..\x`}, "") }), "entry"},
		{"a duplicate entry", extend(t, file, func(z *zip.Writer) {
			putEntry(t, z,
				zip.FileHeader{Name: "records.jsonl"}, "{}")
		}), "records.jsonl is there twice"},
		{
			"a large key", change("secret.key", func(data []byte) []byte {
				return append(data,
					make([]byte, 5000)...)
			}),
			"secret.key: larger than",
		},
		{
			"a plugin that was modified", change(wasm, func(data []byte) []byte { return append(data, 0, 1, 0) }),
			"content has another digest",
		},
		{"a plugin list with a path outside", change("plugins/plugins.json", func(data []byte) []byte {
			return []byte(
				`[{"name":"table","enabled":true,"active":{"version":"1","digest":"../../../evil","source":"local"}}]`)
		}), `digest "../../../evil"`},
		{
			"a plugin under another name", replaced("plugins/plugins.json", `"name": "table"`, `"name": "weather"`),
			`plugin weather: `,
		},
		{
			"a plugin of another version", replaced("plugins/plugins.json", `"version": "1`, `"version": "9`),
			`plugin table: `,
		},
		{"a remote plugin without a signature", replaced("plugins/plugins.json", `"source": "local"`,
			`"source": "remote"`), "not signed"},
		{"an unreadable plugin list", change("plugins/plugins.json",
			func([]byte) []byte { return []byte("[") }), "plugins.json"},
		{"an unreadable trust list", extend(t, file,
			func(z *zip.Writer) { putEntry(t, z, zip.FileHeader{Name: "plugins/trust.json"}, "[") }), "trust.json"},
		{
			"records of an unknown table", replaced("records.jsonl", `{"table":"tenants"`, `{"table":"sqlite_master"`),
			`table "sqlite_master"`,
		},
		{"records with an unknown column", replaced("records.jsonl", `"columns":["id","tenant_id","user_id","title"`,
			`"columns":["id","tenant_id","user_id","nothing"`), `column "nothing"`},
		{
			"truncated records", change("records.jsonl", func(data []byte) []byte { return data[:len(data)-3] }),
			"records.jsonl",
		},
		{"a record without a value", change("records.jsonl",
			func(data []byte) []byte { return append(data, "[1]\n"...) }), "records.jsonl"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := namesIn(t, place[1])
			for _, target := range [][]string{
				{"--data", filepath.Join(t.TempDir(), "target")},
				append([]string{"--replace"}, place...),
			} {
				_, err := commandIn(t, append([]string{"restore", c.file}, target...)...)
				require.ErrorContains(t, err, "not a readable backup")
				require.ErrorContains(t, err, c.want)
				if target[0] == "--data" {
					require.NoDirExists(t, target[1])
				}
			}
			require.Equal(t, before, namesIn(t, place[1]), "nothing is changed")
		})
	}
}

// namesIn returns the names in a folder.
func namesIn(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
