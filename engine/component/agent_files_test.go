package component

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// camera is an MCP server whose answers have files.
type camera struct{ files []engine.Value }

func (camera) ListTools(context.Context, *engine.MCPServer) ([]engine.ToolDef, error) {
	return []engine.ToolDef{{Name: "shoot"}}, nil
}

func (c camera) CallTool(context.Context, *engine.MCPServer, string, engine.Value) (engine.ToolAnswer, error) {
	return engine.ToolAnswer{Result: engine.String("taken"), Files: c.files}, nil
}

func stored(id, name, mimeType string) engine.Value {
	return engine.Object("name", name, "mime_type", mimeType, "size", 3, "doc_id", id, "url", "/files/"+id)
}

const cameraAgent = `{"tool_mode": "MODE", "tools": [` + echo + `], "mcp": [{"mcp_id": "c", "tools": {}}]}`

// photoURL has the type of the content, which its server calls another one.
const photoURL = "data:image/gif;base64,R0lGODlh"

var (
	photo      = stored("f2", "photo.png", "image/png")
	photoFiles = &enginetest.Files{Blobs: engine.Object("f2", "GIF89a", "f3", "PDF", "f4", "RIFF1234WEBP", "f5", "BM")}
)

// shots returns a model that calls the camera and then answers.
func shots(mode string, takes bool) *script {
	m := &script{info: engine.Info{Tools: true, Images: takes}}
	if mode == "native" {
		call := engine.ToolCall{ID: "1", Name: "shoot", Arguments: "{}"}
		m.replies = []reply{{calls: []engine.ToolCall{call}}, {text: "nice"}}
		return m
	}
	m.replies = []reply{{text: plan("shoot x")}, {text: complete}, {text: "nice"}}
	return m
}

// Models see the images that tools return, if they take images; answers link to the files.
func TestModelsSeeImagesOfTools(t *testing.T) {
	for _, mode := range []string{"native", "prompt"} {
		t.Run(mode, func(t *testing.T) {
			ports := engine.Ports{
				MCP: camera{[]engine.Value{photo, stored("f3", "a.pdf", "application/pdf")}}, Files: photoFiles,
			}
			c := node(t, "Agent", strings.Replace(cameraAgent, "MODE", mode, 1), "")
			m := shots(mode, true)
			ports.Model = m
			s := run(t, c, nil, "q", engine.Null, ports)
			require.NoError(t, s.err)
			require.Empty(t, s.warnings)
			const text = "taken\n\n![photo.png](/files/f2)\n\n[Download a.pdf](/files/f3)"
			require.Equal(t, text, s.outs.Get("use_tools").At(0).Get("results").Text())
			links := strings.TrimPrefix(text, "taken")
			require.Equal(t, "nice"+links, s.outs.Get("content").Text())
			second := m.asked[1].Messages
			require.Equal(t, []string{photoURL}, second[len(second)-1].Images)
			require.Contains(t, second[2].Content, text)

			m = shots(mode, false)
			ports.Model = m
			s = run(t, c, nil, "q", engine.Null, ports)
			require.NoError(t, s.err)
			const refused = "X: tools: the model takes no images, so images of tool results are not sent"
			require.Equal(t, []string{refused}, s.warnings)
			for _, message := range m.asked[1].Messages {
				require.Empty(t, message.Images)
			}
		})
	}
}

// An image that is gone, and more of them than a model is sent, are warnings.
func TestImagesOfToolsThatAreNotSent(t *testing.T) {
	files := []engine.Value{stored("f9", "gone.png", "image/png"), engine.Object("name", "x.png", "url", "/files/x")}
	for range maxPictures + 2 {
		files = append(files, photo)
	}
	m := shots("native", true)
	s := run(t, node(t, "Agent", strings.Replace(cameraAgent, "MODE", "native", 1), ""), nil, "q", engine.Null,
		engine.Ports{Model: m, MCP: camera{files}, Files: photoFiles})
	require.NoError(t, s.err)
	require.Len(t, s.warnings, 2)
	require.Contains(t, s.warnings[0], "image gone.png of a tool result")
	require.Contains(t, s.warnings[1], "2 more images of tool results are not sent")
	messages := m.asked[1].Messages
	require.Len(t, messages[len(messages)-1].Images, maxPictures)
}

// large are files that are images of 1 MiB.
type large struct{ engine.Files }

func (large) Read(context.Context, engine.Value) (string, error) {
	return imageURL + "png;base64,R0lGODlh" + strings.Repeat("A", 1<<20), nil
}

// The images of all rounds are bounded, since each request repeats them.
func TestImagesOfManyRoundsAreBounded(t *testing.T) {
	m := &script{info: engine.Info{Tools: true, Images: true}}
	for i := range 10 {
		call := engine.ToolCall{ID: "1", Name: "shoot", Arguments: engine.Object("n", i).JSON()}
		m.replies = append(m.replies, reply{calls: []engine.ToolCall{call}})
	}
	m.replies = append(m.replies, reply{text: "nice"})
	agent := strings.Replace(cameraAgent, `"tool_mode": "MODE"`, `"tool_mode": "native", "max_rounds": 20`, 1)
	ports := engine.Ports{Model: m, MCP: camera{slices.Repeat([]engine.Value{photo}, 5)}, Files: large{photoFiles}}
	s := run(t, node(t, "Agent", agent, ""), nil, "q", engine.Null, ports)
	require.NoError(t, s.err)
	size := 0
	for _, message := range m.asked[len(m.asked)-1].Messages {
		size += len(strings.Join(message.Images, ""))
	}
	require.LessOrEqual(t, size, 32<<20)
	require.Greater(t, size, 16<<20)
	require.Contains(t, s.warnings[len(s.warnings)-1], "5 more images of tool results are not sent")
}

// Images that an agent and the agents inside of it hold at one time are bounded together; those of
// an agent that has ended are held no more.
func TestImagesOfInnerAgentsAreBoundedTogether(t *testing.T) {
	m := &script{info: engine.Info{Tools: true, Images: true}}
	shoot := func(n int) reply {
		return reply{calls: []engine.ToolCall{{ID: "1", Name: "shoot", Arguments: engine.Object("n", n).JSON()}}}
	}
	m.replies = []reply{
		shoot(1), shoot(2), shoot(3), shoot(4),
		{calls: delegate}, // 20 MiB and more
		shoot(1), shoot(2), shoot(3), shoot(4),
		{text: "inner"},
		shoot(5), shoot(6),
		{text: "nice"},
	}
	params := strings.Replace(cameraAgent, `"tool_mode": "MODE"`, `"tool_mode": "native", "max_rounds": 20`, 1)
	inner := `{"component_name": "Agent", "name": "Inner", "params": ` + params + `}`
	outer := strings.Replace(params, `"tools": [`, `"tools": [`+inner+`, `, 1)
	ports := engine.Ports{Model: m, MCP: camera{slices.Repeat([]engine.Value{photo}, 5)}, Files: large{photoFiles}}
	s := run(t, node(t, "Agent", outer, ""), nil, "q", engine.Null, ports)
	require.NoError(t, s.err)
	images := func(asked int) (n int) {
		for _, message := range m.asked[asked].Messages {
			n += len(message.Images)
		}
		return n
	}
	require.Equal(t, 20, images(4), "the outer agent delegates")
	require.Equal(t, 11, images(9), "the inner agent answers")
	require.Equal(t, 30, images(12), "the outer agent answers")
}

// Models refuse a request with an image of another type, which is a link only: the bytes count, not
// the type that a server declares.
func TestImagesOfToolsByTheirBytes(t *testing.T) {
	m := shots("native", true)
	files := []engine.Value{
		stored("f5", "x.png", "image/png"), stored("f4", "x.svg", "image/svg+xml"), photo,
	}
	s := run(t, node(t, "Agent", strings.Replace(cameraAgent, "MODE", "native", 1), ""), nil, "q", engine.Null,
		engine.Ports{Model: m, MCP: camera{files}, Files: photoFiles})
	require.NoError(t, s.err)
	const bitmap = "X: tools: image x.png of a tool result (image/png) is not PNG, JPEG, GIF or WebP, which models take"
	require.Equal(t, []string{bitmap}, s.warnings)
	messages := m.asked[1].Messages
	require.Equal(t, []string{"data:image/webp;base64,UklGRjEyMzRXRUJQ", photoURL}, messages[len(messages)-1].Images)
}

// The images of scripts are seen too, and again after the agent waited for a person.
func TestModelsSeeImagesOfScriptsAfterAPause(t *testing.T) {
	const code = `{"component_name": "CodeExec", "name": "Code", "params": {"lang": "python", "script": "x"}}`
	c := node(t, "Agent", `{"tool_mode": "native", "tools": [`+code+`, `+guarded+`]}`, "{X@content}")
	m := &script{info: engine.Info{Tools: true, Images: true}, replies: []reply{
		{calls: []engine.ToolCall{{ID: "1", Name: "execute_code_0", Arguments: `{"lang": "python", "script": "x"}`}}},
		{calls: []engine.ToolCall{{ID: "2", Name: "echo_tool_1", Arguments: `{"query": "a"}`}}},
	}}
	port := &sandbox{result: engine.CodeResult{Value: engine.String("done"), Artifacts: []engine.Value{photo}}}
	ports := engine.Ports{Model: m, Code: port, Files: photoFiles}
	first := play(t, c, nil, engine.Null, engine.Options{Ports: ports})
	require.NoError(t, first.err)
	require.Len(t, m.asked, 2)
	require.Equal(t, []string{photoURL}, m.asked[1].Messages[3].Images)
	require.NotContains(t, string(first.state), "R0lGODlh", "the state has no images")

	m = &script{info: m.info, replies: []reply{{text: "fine"}}}
	ports.Model = m
	second := play(t, c, first.state, decided(first.asked, "yes", ""), engine.Options{Ports: ports})
	require.NoError(t, second.err)
	require.Len(t, m.asked, 1)
	require.Equal(t, []string{photoURL}, m.asked[0].Messages[3].Images)
	require.Equal(t, "fine\n\n![photo.png](/files/f2)", second.outs.Get("content").Text())
}
