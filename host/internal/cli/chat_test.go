package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestChatRefusesUnknownCommands(t *testing.T) {
	for line, want := range map[string]string{
		"/rest": "unknown command /rest (did you mean /reset?); the commands are /file PATH, /reset, " +
			"/exit; // begins a text with /\n",
		"/quit":             "unknown command /quit; the commands are",
		"/file":             "/file: missing path of a file\n",
		"/exit now":         "/exit takes no further arguments\n",
		"/file nowhere.txt": "nowhere.txt: no such file",
	} {
		code, out, errs := typed(t, line+"\n", "chat", examples+"shop.json")
		require.Equal(t, ExitOK, code, errs)
		require.Contains(t, errs, want, line)
		require.NotContains(t, out, "You are welcome", "%s was said to the canvas", line)
		require.NotContains(t, out, "I only know", "%s was said to the canvas", line)
	}
}

func TestChatSendsATextThatStartsWithASlash(t *testing.T) {
	canvas := file(t, "echo.json", sketch.Canvas(
		"begin Begin -> Message:M",
		`Message:M Message {"content": ["you said {sys.query}"]}`,
	))
	code, out, errs := typed(t, "//etc is a folder\n", "chat", canvas)
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "you said /etc is a folder\n")
}

func TestChatAsksForApproval(t *testing.T) {
	canvas := file(t, "approval.json", sketch.Canvas(
		"begin Begin -> StringTransform:S",
		`StringTransform:S StringTransform {
			"approval": true, "method": "merge", "script": "merged {sys.query}"} -> Message:M`,
		`Message:M Message {"content": ["{StringTransform:S@result}"]}`,
	))
	for answers, want := range map[string]string{
		"yes\n\n": "merged hello", "yes\n{\"sys.query\": \"bye\"}\n": "merged bye", "no\n": "rejected by a person",
	} {
		_, out, errs := typed(t, "hello\n"+answers, "chat", canvas)
		require.Contains(t, errs, "Allow StringTransform:S? (yes, no)", answers)
		require.Contains(t, out+errs, want, answers)
	}
}

func TestRunUsesCanvasesBeside(t *testing.T) {
	canvas := file(t, "outer.json", sketch.Canvas(
		"begin Begin -> Canvas:C",
		`Canvas:C Canvas {"canvas": "inner"} -> Message:M`,
		`Message:M Message {"content": ["{Canvas:C@content}"]}`,
	))
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(canvas), "inner.json"), []byte(text), 0o600))
	}
	write(sketch.Canvas("begin Begin -> Message:M", `Message:M Message {"content": ["inner says {sys.query}"]}`))
	_, out, errs := typed(t, "hello\n", "chat", canvas)
	require.Contains(t, out, "inner says hello", errs)

	write(sketch.Canvas(
		"begin Begin -> UserFillUp:F",
		`UserFillUp:F UserFillUp {"inputs": {"city": {"name": "City", "type": "line"}}} -> Message:M`,
		`Message:M Message {"content": ["in {UserFillUp:F@city}"]}`,
	))
	_, out, errs = typed(t, "hello\nOslo\n", "chat", canvas)
	require.Contains(t, errs, "City")
	require.Contains(t, out, "in Oslo", errs)
}
