package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

const operatorKey = "ragflow-operator-key"

// database returns the flags for an empty database of an engine, with a data directory. On
// PostgreSQL, whose server all tests of the package share, it is a new schema.
func database(t *testing.T, engine string) []string {
	t.Helper()
	dir := []string{"--data", filepath.Join(t.TempDir(), "data")}
	if engine == "sqlite" {
		return dir
	}
	return append(dir, "--postgres", servertest.NewSchema(t))
}

// command runs the program in an empty environment.
func commandIn(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var both servertest.Output
	err = withEnv(t, &both, &both, nil).dispatch(t.Context(), args)
	return both.String(), err
}

var echoing = sketch.Canvas("begin Begin -> M", `M Message {"content":["You said {sys.query}"]}`)

// upload sends a file and returns its id.
func (s *served) upload(canvas, name, content string) string {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	w, err := form.CreateFormFile("file", name)
	require.NoError(s.t, err)
	_, _ = io.WriteString(w, content)
	require.NoError(s.t, form.Close())
	req, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+"/v1/canvas/upload/"+canvas, &body)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+operatorKey)
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return member(s.t, string(text), "id")
}

// member returns the text of a JSON member that occurs once, or first.
func member(t *testing.T, json, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(json, `"`+name+`":"`)
	require.True(t, found, json)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// filled is a host with data of every kind.
type filled struct{ canvas, session, file string }

func fill(t *testing.T, s *served) (f filled) {
	t.Helper()
	f.canvas = member(t, s.post("/api/v2/canvases", operatorKey, `{"title":"kept","dsl":`+echoing+`}`), "id")
	f.session = member(t, s.post("/api/v2/canvases/"+f.canvas+"/sessions", operatorKey, `{}`), "id")
	require.Contains(t, s.post("/api/v1/agents/"+f.canvas+"/completions", operatorKey,
		`{"question":"hello","stream":false,"session_id":"`+f.session+`"}`), "You said hello")
	s.post("/api/v2/schedules", operatorKey, `{"name":"nightly","canvas":"`+f.canvas+`","cron":"@daily"}`)
	f.file = s.upload(f.canvas, "note.txt", "what the file says")
	return f
}

// check looks for the data of filled.
func (f *filled) check(t *testing.T, s *served) {
	t.Helper()
	status, body := s.get("/api/v1/agents/"+f.canvas+"/sessions?id="+f.session, operatorKey)
	require.Equal(t, 200, status, body)
	require.Contains(t, body, "You said hello")
	_, body = s.get("/v1/canvas/download?id="+f.file+"&created_by="+host.FirstTenant, operatorKey)
	require.Equal(t, "what the file says", body)
	_, body = s.get("/api/v1/plugins", operatorKey)
	require.Contains(t, body, `"plugin:table@1"`)
	_, body = s.get("/api/v2/schedules", operatorKey)
	require.Contains(t, body, `"name":"nightly"`)
	require.Contains(t, s.post("/api/v1/agents/"+f.canvas+"/completions", operatorKey,
		`{"question":"again","stream":false,"session_id":"`+f.session+`"}`), "You said again")
}

// installTable installs the example plugin into a data directory.
func installTable(t *testing.T, place []string) {
	t.Helper()
	packed := filepath.Join(t.TempDir(), "table.wasm")
	const source = "../../../plugins/examples/table"
	for _, args := range [][]string{
		{"plugin", "pack", source, source + "/table.wasm", "-o", packed},
		{"plugin", "install", packed, "--plugins", filepath.Join(place[1], "plugins")},
	} {
		out, err := commandIn(t, args...)
		require.NoError(t, err, out)
	}
}

// secretOf reads a secret from a host's data.
func secretOf(t *testing.T, place []string, put string) string {
	t.Helper()
	cfg := store.Config{Dir: place[1]}
	if len(place) > 2 {
		cfg.URL = place[3]
	}
	s, err := store.Open(t.Context(), cfg)
	require.NoError(t, err)
	defer s.Close()
	if put != "" {
		require.NoError(t, s.Secrets.Put(t.Context(), host.FirstTenant, "n", []byte(put), nil))
	}
	v, err := s.Secrets.Open(t.Context(), host.FirstTenant, "n")
	require.NoError(t, err)
	return string(v)
}

// A host is backed up at work and at rest, and restored to either kind of database.
func TestBackupAndRestore(t *testing.T) {
	env := []string{"EASEL_API_KEY=" + operatorKey}
	for _, from := range []string{"sqlite", "postgres"} {
		for _, to := range []string{"sqlite", "postgres"} {
			t.Run(from+" to "+to, func(t *testing.T) {
				place := database(t, from)
				archives := t.TempDir()
				s := serve(t, env, place...)
				installTable(t, place)
				f := fill(t, s)
				secretOf(t, place, "sealed")
				atWork, atRest := filepath.Join(archives, "work.zip"), filepath.Join(archives, "rest.zip")
				out, err := commandIn(t, append([]string{"backup", atWork}, place...)...)
				require.NoError(t, err, out)
				_, err = commandIn(t, append([]string{"backup", atWork}, place...)...)
				require.ErrorContains(t, err, "exists already")
				require.NoError(t, s.stop())
				out, err = commandIn(t, append([]string{"backup", atRest}, place...)...)
				require.NoError(t, err, out)
				info, err := os.Stat(atRest)
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

				target := database(t, to)
				out, err = commandIn(t, append([]string{"restore", atWork}, target...)...)
				require.NoError(t, err, out)
				require.Contains(t, out, "1 uploaded files")
				require.Equal(t, "sealed", secretOf(t, target, ""))
				s = serve(t, env, target...)
				f.check(t, s)
				_, err = commandIn(t, append([]string{"restore", atRest, "--replace"}, target...)...)
				require.Error(t, err)
				require.Regexp(t, `stop the host|hosts are at work there: \S+/\d+; stop them`, err.Error())
				require.NoError(t, s.stop())

				_, err = commandIn(t, append([]string{"restore", atRest}, target...)...)
				require.ErrorContains(t, err, "--replace")
				out, err = commandIn(t, append([]string{"restore", atRest, "--replace"}, target...)...)
				require.NoError(t, err, out)
				s = serve(t, env, target...)
				f.check(t, s)
				require.NoError(t, s.stop())
				kept, err := filepath.Glob(filepath.Join(target[1], "replaced-*"))
				require.NoError(t, err)
				require.Len(t, kept, 1)
			})
		}
	}
}

// Data written during a backup is in it completely or not at all: no session without its canvas.
func TestBackupOfARunningHostIsConsistent(t *testing.T) {
	place := database(t, "sqlite")
	s := serve(t, []string{"EASEL_API_KEY=" + operatorKey}, place...)
	writing, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	first := make(chan struct{})
	work.Go(func() {
		for n := 0; writing.Err() == nil; n++ {
			canvas := member(t, s.post("/api/v2/canvases", operatorKey,
				fmt.Sprintf(`{"title":"c%d","dsl":%s}`, n, echoing)), "id")
			s.post("/api/v2/canvases/"+canvas+"/sessions", operatorKey, `{}`)
			if n == 0 {
				close(first)
			}
		}
	})
	<-first
	for range 5 {
		file := filepath.Join(t.TempDir(), "b.zip")
		out, err := commandIn(t, append([]string{"backup", file}, place...)...)
		require.NoError(t, err, out)
		target := database(t, "sqlite")
		_, err = commandIn(t, append([]string{"restore", file}, target...)...)
		require.NoError(t, err)
		r, err := store.Open(t.Context(), store.Config{Dir: target[1]})
		require.NoError(t, err)
		canvases, total, err := r.Canvases.List(
			t.Context(), store.CanvasFilter{Viewer: access.All(host.FirstTenant)}, store.Page{},
		)
		require.NoError(t, err)
		require.Positive(t, total)
		known := map[string]bool{}
		for _, c := range canvases {
			known[c.ID] = true
			_, sessions, err := r.Sessions.List(
				t.Context(), store.SessionFilter{Tenant: host.FirstTenant, Canvas: c.ID}, store.Page{},
			)
			require.NoError(t, err)
			require.LessOrEqual(t, sessions, 1)
		}
		all, _, err := r.Sessions.List(t.Context(), store.SessionFilter{Tenant: host.FirstTenant}, store.Page{})
		require.NoError(t, err)
		for _, one := range all {
			require.True(t, known[one.Canvas], "a session without its canvas")
		}
		require.NoError(t, r.Close())
	}
	stop()
	work.Wait()
}

// archived makes a small backup.
func archived(t *testing.T, flags ...string) (file string, place []string) {
	t.Helper()
	place = database(t, "sqlite")
	s := serve(t, []string{"EASEL_API_KEY=" + operatorKey}, place...)
	s.post("/api/v2/canvases", operatorKey, `{"title":"one","dsl":`+echoing+`}`)
	require.NoError(t, s.stop())
	file = filepath.Join(t.TempDir(), "b.zip")
	out, err := commandIn(t, append(append([]string{"backup", file}, place...), flags...)...)
	require.NoError(t, err, out)
	return file, place
}

// rewrite copies an archive with its entries changed; nil drops one.
func rewrite(t *testing.T, file string, change func(name string, data []byte) (string, []byte)) string {
	t.Helper()
	in, err := zip.OpenReader(file)
	require.NoError(t, err)
	defer in.Close()
	path := filepath.Join(t.TempDir(), "changed.zip")
	f, err := os.Create(path)
	require.NoError(t, err)
	out := zip.NewWriter(f)
	for _, e := range in.File {
		r, err := e.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		name, data := change(e.Name, data)
		if data == nil {
			continue
		}
		w, err := out.Create(name)
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, out.Close())
	require.NoError(t, f.Close())
	return path
}

func TestRestoreRefuses(t *testing.T) {
	file, place := archived(t)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	raw := func(b []byte) string {
		path := filepath.Join(t.TempDir(), "raw.zip")
		require.NoError(t, os.WriteFile(path, b, 0o600))
		return path
	}
	flipped := bytes.Clone(data)
	flipped[len(flipped)/2] ^= 0x55
	otherKey := strings.Repeat("ab", 32)
	for _, c := range []struct{ name, file, want string }{
		{"not a zip file", raw([]byte("PK no archive")), "not a readable backup"},
		{"an empty file", raw(nil), "not a readable backup"},
		{
			"a truncated file", raw(data[:len(data)-100]),
			fmt.Sprintf("the backup ends early; it was cut off when it was written or copied, after %d bytes",
				len(data)-100),
		},
		{"truncated in its first entry", raw(data[:50]), "ends early"},
		{"a file that lacks its last byte", raw(data[:len(data)-1]), "ends early"},
		{"a file with nearly nothing", raw(data[:3]), "not a readable backup"},
		{"a byte that is wrong", raw(flipped), "not a readable backup"},
		{
			"a zip file that is not a backup", rewrite(t, file, func(name string, data []byte) (string, []byte) {
				return "x" + name,
					data
			}),
			"lacks easel.json",
		},
		{"no records", rewrite(t, file, func(name string, data []byte) (string, []byte) {
			if name == "records.jsonl" {
				return name, nil
			}
			return name, data
		}), "lacks"},
		{"a later format", rewrite(t, file, func(name string, data []byte) (string, []byte) {
			if name == "easel.json" {
				return name, []byte(`{"easel":"backup","format":99}`)
			}
			return name, data
		}), "format 99"},
		{"a name that leads outside", rewrite(t, file, func(name string, data []byte) (string, []byte) {
			if name == "secret.key" {
				return "plugins/../../secret.key", data
			}
			return name, data
		}), "entry"},
		{"the key of another host", rewrite(t, file, func(name string, data []byte) (string, []byte) {
			if name == "secret.key" {
				return name, []byte(otherKey)
			}
			return name, data
		}), "does not belong to this backup"},
		{"no key", rewrite(t, file, func(name string, data []byte) (string, []byte) {
			if name == "secret.key" {
				return name, nil
			}
			return name, data
		}), "does not belong to this backup"},
		{"a file that is not there", filepath.Join(t.TempDir(), "missing.zip"), "missing.zip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "target")
			_, err := commandIn(t, "restore", c.file, "--data", target)
			require.ErrorContains(t, err, c.want)
			require.NoFileExists(t, filepath.Join(target, "easel.db"))
			if c.name == "no key" {
				return // the source has the key
			}
			_, err = commandIn(t, append([]string{"restore", c.file, "--replace"}, place...)...)
			require.ErrorContains(t, err, c.want, "what is there is safe")
			_, err = os.Stat(filepath.Join(place[1], "easel.db"))
			require.NoError(t, err)
		})
	}
	_, err = commandIn(t, "backup", filepath.Join(t.TempDir(), "x.zip"), "--data",
		filepath.Join(t.TempDir(), "nowhere"))
	require.ErrorContains(t, err, "not an easel data directory")
	_, err = commandIn(t, "backup")
	require.ErrorContains(t, err, "expected one FILE")
}

// A restore replaces damaged records: the error of the refused start names it.
func TestRestoreReplacesDamagedRecords(t *testing.T) {
	file, place := archived(t)
	records := filepath.Join(place[1], "easel.db")
	text, err := os.ReadFile(records)
	require.NoError(t, err)
	for name, damaged := range map[string][]byte{
		"a changed page": append(bytes.Clone(text[:len(text)-1]), text[len(text)-1]^1), "no database": []byte("text"),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(records, damaged, 0o600))
			_, err := commandIn(t, append([]string{"restore", file}, place...)...)
			require.ErrorContains(t, err, "--replace")
			_, err = commandIn(t, append([]string{"restore", file, "--replace"}, place...)...)
			require.NoError(t, err)
			s := serve(t, []string{"EASEL_API_KEY=" + operatorKey}, place...)
			_, body := s.get("/api/v2/canvases", operatorKey)
			require.Contains(t, body, `"title":"one"`)
			require.NoError(t, s.stop())
		})
	}
}

// A backup without its key is restored into a directory that has the key.
func TestRestoreWithTheKeyFromElsewhere(t *testing.T) {
	file, place := archived(t, "--without-key")
	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.MkdirAll(target, 0o700))
	key, err := os.ReadFile(filepath.Join(place[1], "secret.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(target, "secret.key"), key, 0o600))
	out, err := commandIn(t, "restore", file, "--data", target)
	require.NoError(t, err, out)
}

func TestExportAndImport(t *testing.T) {
	place := database(t, "sqlite")
	s := serve(t, []string{"EASEL_API_KEY=" + operatorKey}, place...)
	for _, title := range []string{"First", "a/b: c?"} {
		member(t, s.post("/api/v2/canvases", operatorKey,
			`{"title":"`+title+`","description":"about it","dsl":`+echoing+`}`), "id")
	}
	id := member(t, s.post("/api/v2/canvases", operatorKey, `{"title":"talked","dsl":`+echoing+`}`), "id")
	require.Contains(t, s.post("/v1/canvas/completion", operatorKey, `{"id":"`+id+`","query":"remember me"}`),
		"You said")
	run := func(args ...string) (string, error) { return commandIn(t, append(args, place...)...) }
	one, all := filepath.Join(t.TempDir(), "one.json"), filepath.Join(t.TempDir(), "all.zip")
	_, err := run("export", "first", "-o", one)
	require.NoError(t, err, "while the host works")
	text, err := os.ReadFile(one)
	require.NoError(t, err)
	require.Contains(t, string(text), "\"title\": \"First\",\n  \"description\": \"about it\"")
	out, err := run("export", "talked")
	require.NoError(t, err)
	require.NotContains(t, out, "remember me")
	out, err = run("export", "talked", "--with-state")
	require.NoError(t, err)
	require.Contains(t, out, "remember me")
	_, err = run("export", "-o", all)
	require.NoError(t, err)
	z, err := zip.OpenReader(all)
	require.NoError(t, err)
	var names []string
	for _, e := range z.File {
		names = append(names, e.Name)
	}
	require.NoError(t, z.Close())
	require.ElementsMatch(t, []string{"First.json", "a_b_ c_.json", "talked.json"}, names)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"export"}, "there are 3 canvases"},
		{[]string{"export", "nothing"}, `no canvas "nothing"; there are "a/b: c?", "First", "talked"`},
		{[]string{"import"}, "expected at least one FILE"},
		{[]string{"import", one}, `there is a canvas "First" already`},
		{[]string{"import", all, one, "--replace"}, `two files have the title "First"`},
		{[]string{"import", one, "--tenant", "missing"}, "missing"},
		{[]string{"import", filepath.Join(place[1], "easel.db")}, "easel.db"},
	} {
		_, err := run(c.args...)
		require.ErrorContains(t, err, c.want)
	}
	_, err = run("import", all, "--replace")
	require.NoError(t, err)
	require.NoError(t, s.stop())

	place = database(t, "sqlite")
	s = serve(t, []string{"EASEL_API_KEY=" + operatorKey}, place...)
	out, err = run("import", all, examples+"shop.json")
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(out, "\n"))
	_, list := s.get("/api/v2/canvases", operatorKey)
	for _, title := range []string{`"First"`, `"a/b: c?"`, `"talked"`, `"shop"`} {
		require.Contains(t, list, title)
	}
	broken := filepath.Join(t.TempDir(), "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"components":{}}`), 0o600))
	_, err = run("import", examples+"order.json", broken)
	require.ErrorContains(t, err, "broken.json")
	_, list = s.get("/api/v2/canvases", operatorKey)
	require.NotContains(t, list, `"order"`, "none is saved when one is bad")
}
