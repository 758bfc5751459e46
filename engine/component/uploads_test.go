package component

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// earlier are the prompts of a conversation that ends with "c".
const earlier = `{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, ` +
	`{"role": "user", "content": "c"}`

const picture = "data:image/png;base64,UE5H"

// upload runs a canvas with one model node and uploads, and returns the model and the run's
// warnings.
func upload(t *testing.T, info engine.Info, node string, lines ...string) (*script, []string) {
	t.Helper()
	reg, err := engine.NewRegistry(append(Builtin(), enginetest.EchoToolSpec())...)
	require.NoError(t, err)
	c, err := engine.Load(reg, sketch.Bytes(append([]string{"begin Begin -> X", "X " + node, "=env.x 1"}, lines...)...))
	require.NoError(t, err)
	m := say("ok", "ok")
	m.info = info
	files := &enginetest.Files{Blobs: engine.Object("f1", "first", "f2", "PNG", "f3", "second")}
	in := engine.Input{Query: engine.String("hello"), Files: engine.List(
		engine.Object("id", "f1", "name", "a.txt", "mime_type", "text/plain"),
		engine.Object("id", "f2", "name", "i.png", "mime_type", "image/png"),
		engine.Object("id", "f3", "name", "b.txt", "mime_type", "text/plain"),
	)}
	var warnings []string
	for e, err := range c.Run(t.Context(), c.State(), in, engine.Options{Ports: engine.Ports{
		Model: m, Files: files, Clock: &enginetest.Clock{}, IDs: &enginetest.IDs{},
	}, Seed: 1, Internal: true}) {
		require.NoError(t, err)
		if e.Type == engine.EventWarning {
			warnings = append(warnings, e.Data().Get("text").Text())
		}
	}
	require.NotEmpty(t, m.asked)
	return m, warnings
}

func TestModelsGetUploadedFiles(t *testing.T) {
	const files = "\n\n[a.txt]first\n\n[b.txt]second"
	for _, c := range []struct {
		name, node string
		line       string
		want       string
		images     []string
	}{
		{name: "LLM", node: "LLM {}", want: "hello" + files, images: []string{picture}},
		{name: "Agent", node: "Agent {}", want: "hello" + files, images: []string{picture}},
		{
			name: "last user message",
			node: `LLM {"prompts": [` + earlier + `]}`,
			want: "c" + files, images: []string{picture},
		},
		{
			name: "images of a variable are not sent twice", node: `LLM {"visual_files_var": "sys.files"}`,
			want: "hello" + files, images: []string{picture},
		},
		{
			name: "a prompt contains them", node: `LLM {"prompts": "see {sys.files}"}`,
			want: `see ["[a.txt]first", "` + picture + `", "[b.txt]second"]`,
		},
		{name: "the system prompt contains them", node: `LLM {"sys_prompt": "see {sys.files}"}`, want: "hello"},
		{name: "the old task contains them", node: `Generate {"prompt": "see {{ sys.files }}"}`, want: "hello"},
		{name: "switched off", node: "LLM {}", line: `@settings {"files_to_model": false}`, want: "hello"},
		{
			name: "switched on", node: "LLM {}", line: `@settings {"files_to_model": true}`,
			want: "hello" + files, images: []string{picture},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lines []string
			if c.line != "" {
				lines = append(lines, c.line)
			}
			m, warnings := upload(t, engine.Info{Images: true}, c.node, lines...)
			messages := m.asked[0].Messages
			require.Equal(t, c.want, messages[len(messages)-1].Content)
			require.Equal(t, c.images, messages[len(messages)-1].Images)
			require.Empty(t, warnings)
		})
	}
}

func TestModelsWithoutImagesGetTexts(t *testing.T) {
	m, warnings := upload(t, engine.Info{}, "LLM {}")
	require.Empty(t, m.asked[0].Messages[0].Images)
	require.Contains(t, m.asked[0].Messages[0].Content, "first")
	require.Equal(t, []string{"X: files: the model takes no images, so uploaded images are not sent"}, warnings)
}

// An agent's request is the user's message; the files follow it, also when the request is
// rewritten.
func TestAgentKeepsUploadedFilesWithItsRequest(t *testing.T) {
	m, _ := upload(t, engine.Info{Images: true, Tools: true},
		`Agent {"prompts": [`+earlier+`], "tools": [{"component_name": "EchoTool", "name": "Echo", "params": {}}]}`)
	require.Equal(t, engine.PurposeQuestion, m.asked[0].Purpose)
	require.NotContains(t, m.asked[0].System, "first")
	require.Equal(t, "c", m.asked[0].Query)
	messages := m.asked[1].Messages
	require.Equal(t, "ok\n\n[a.txt]first\n\n[b.txt]second", messages[len(messages)-1].Content)
}

// A message that does not fit loses the end of the files, and the request stays what it was.
func TestUploadsAreCutBeforeTheRequest(t *testing.T) {
	c := conversation{messages: []engine.ModelMessage{{Role: "user", Content: "question"}}}
	c.attach("\n\n" + strings.Repeat("x", 10_000))
	c.fit(100)
	said, files := c.split()
	require.Equal(t, "question", said)
	require.NotEmpty(t, files)
	require.Less(t, len(files), 400)
	back := readConversation(c.value())
	require.Equal(t, "question", back.last())
	c.fit(2)
	require.Equal(t, "ques", c.last())
}

func TestFilesToModelIsASwitch(t *testing.T) {
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	_, err = engine.Load(reg, sketch.Bytes("begin Begin", `@settings {"files_to_model": "no"}`))
	require.ErrorContains(t, err, `settings: files_to_model: is "no"; expected true or false`)
}
