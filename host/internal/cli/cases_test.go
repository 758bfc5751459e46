package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecordedCasePasses(t *testing.T) {
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"shop":  {examples + "shop.json", "-q", "How long can I return shoes?", "-q", "Thank you"},
		"order": {examples + "order.json", "-q", "mugs"},
		"form":  {file(t, "c.json", form), "--file", file(t, "a.txt", "text"), "--inputs", `{"city": "Rome"}`},
	} {
		path := filepath.Join(dir, name+".json")
		code, out, errs := easel(t, append([]string{"record", "--knowledge", examples + "knowledge", "-o", path}, args...)...)
		require.Equal(t, ExitOK, code, errs)
		require.Contains(t, out, "recorded")
	}
	code, out, _ := easel(t, "test", dir, "-v")
	require.Equal(t, ExitOK, code, out)
	require.Equal(t, "ok   form\nok   order\nok   shop\n3 passed, 0 failed\n", out)

	for _, flags := range [][]string{{"--cut"}, {"--keep"}, {"--concurrency", "1"}} {
		code, out, _ := easel(t, append([]string{"test", dir}, flags...)...)
		require.Equal(t, ExitOK, code, out)
	}

	path := filepath.Join(dir, "shop.json")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), "You are welcome", "You were welcome", 1)), 0o600))
	code, out, _ = easel(t, "test", dir, "--only", "s*")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, out, "FAIL shop\n")
	require.Contains(t, out, "0 passed, 1 failed\n")
	code, out, _ = easel(t, "test", path, "--json")
	require.Equal(t, ExitFailed, code)
	require.False(t, parse1(t, out).Get("passed").True())
}

// Cases keep one find per query; this canvas asks two datasets the same.
func TestRecordReportsWhatCannotRepeat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guide.json")
	code, _, errs := easel(t, "record", examples+"guide.json", "--knowledge", examples+"knowledge", "-q", "Which shoes for a wet trail?", "-o", path)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "the case does not repeat")
	require.FileExists(t, path)
}

func TestReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "case.json")
	code, _, errs := easel(t, "record", examples+"shop.json", "-o", path, "-q", "Thank you")
	require.Equal(t, ExitOK, code, errs)
	code, out, _ := easel(t, "replay", path)
	require.Equal(t, ExitOK, code)
	v := parse1(t, out)
	require.Equal(t, "case", v.Get("name").Str())
	require.Equal(t, "workflow_started", v.Get("runs").At(0).Get("events").At(0).Get("event").Str())
}

func TestReplayTemplates(t *testing.T) {
	path := file(t, "t.jsonl", `{"name": "a", "template": "Hi {{ who }}", "context": {"who": "you"}}`+"\n\n"+
		`{"name": "b", "template": "{% if %}", "context": {}}`+"\n")
	code, out, errs := easel(t, "replay", "--templates", path)
	require.Equal(t, ExitOK, code, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 2)
	require.Equal(t, `{"name":"a","text":"Hi you"}`, lines[0])
	require.NotEmpty(t, parse1(t, lines[1]).Get("error").Str())
}

// A case recorded from a canvas tests the canvas as it is now, when it is named; else the copy in
// the case.
func TestCaseOfAChangedCanvas(t *testing.T) {
	shop, err := os.ReadFile(examples + "shop.json")
	require.NoError(t, err)
	canvas := file(t, "shop.json", string(shop))
	path := filepath.Join(t.TempDir(), "thanks.json")
	code, _, errs := easel(t, "record", canvas, "-o", path, "-q", "Thank you")
	require.Equal(t, ExitOK, code, errs)
	code, out, errs := easel(t, "test", path, "--canvas", canvas)
	require.Equal(t, ExitOK, code, out+errs)

	changed := strings.Replace(string(shop), "You are welcome", "With pleasure", 1)
	require.NotEqual(t, string(shop), changed)
	require.NoError(t, os.WriteFile(canvas, []byte(changed), 0o600))
	code, out, _ = easel(t, "test", path)
	require.Equal(t, ExitOK, code, out)
	code, out, _ = easel(t, "test", path, "--canvas", canvas)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, out, "FAIL thanks\n")
	require.Contains(t, out, "With pleasure")
	code, out, _ = easel(t, "replay", path, "--canvas", canvas)
	require.Equal(t, ExitOK, code)
	require.Contains(t, out, "With pleasure")

	require.NoError(t, os.WriteFile(canvas, []byte(`{"components": {}}`), 0o600))
	code, out, errs = easel(t, "test", path, "--canvas", canvas)
	require.Equal(t, ExitInvalid, code)
	require.Contains(t, errs, canvas+": the canvas does not load")
	require.Empty(t, out)
	code, _, errs = easel(t, "test", path, "--canvas", filepath.Join(t.TempDir(), "none.json"))
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "none.json")
	code, _, errs = easel(t, "replay", "--templates", path, "--canvas", canvas)
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "--templates takes no canvas")
}
