// Command hypermcp is a plugin of hyper-mcp as its authors write them in Go: the Extism PDK, and
// exports that read a request of the Model Context Protocol and write its result.
package main

import (
	"errors"
	"strings"

	"github.com/extism/go-pdk"
)

type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	InputSchema map[string]any `json:"inputSchema"`
}

type listResult struct {
	Tools []tool `json:"tools"`
}

type callRequest struct {
	Context map[string]any `json:"context"`
	Request struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	} `json:"request"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	Data string `json:"data,omitempty"`
	MIME string `json:"mimeType,omitempty"`
}

type callResult struct {
	Content           []content      `json:"content"`
	StructuredContent map[string]any `json:"structuredContent,omitempty"`
	IsError           bool           `json:"isError,omitempty"`
}

//go:wasmimport extism:host/user notify_progress
func notifyProgress(params uint64)

// progress notifies the client as the template of hyper-mcp does.
func progress(done, total int) error {
	params, err := pdk.AllocateJSON(map[string]any{"progressToken": "t", "progress": done, "total": total})
	if err != nil {
		return err
	}
	defer params.Free()
	notifyProgress(params.Offset())
	return nil
}

// answer runs an export: its request is JSON, and so is its result.
func answer[In, Out any](run func(In) (Out, error)) int32 {
	var in In
	if err := pdk.InputJSON(&in); err != nil {
		pdk.SetError(err)
		return -1
	}
	out, err := run(in)
	if err == nil {
		err = pdk.OutputJSON(out)
	}
	if err != nil {
		pdk.SetError(err)
		return -1
	}
	return 0
}

//go:wasmexport list_tools
func listTools() int32 {
	return answer(func(map[string]any) (listResult, error) {
		text := map[string]any{"text": map[string]any{"type": "string", "description": "words"}}
		schema := map[string]any{"type": "object", "properties": text, "required": []string{"text"}}
		return listResult{[]tool{
			{"count_words", "Counts the words of a text.", schema},
			{"shout", "Writes a text in capital letters.", schema},
			{"broken", "Fails.", schema},
		}}, nil
	})
}

//go:wasmexport call_tool
func callTool() int32 {
	return answer(func(in callRequest) (callResult, error) {
		text, ok := in.Request.Arguments["text"].(string)
		if !ok {
			return callResult{}, errors.New("text is not a string")
		}
		switch in.Request.Name {
		case "count_words":
			words := strings.Fields(text)
			if err := progress(1, 2); err != nil {
				return callResult{}, err
			}
			return callResult{
				Content: []content{
					{Type: "text", Text: "counted"}, {Type: "image", Data: "AAEC", MIME: "image/png"},
				},
				StructuredContent: map[string]any{"words": len(words)},
			}, nil
		case "shout":
			return callResult{Content: []content{{Type: "text", Text: strings.ToUpper(text)}}}, nil
		}
		return callResult{Content: []content{{Type: "text", Text: "it is broken"}}, IsError: true}, nil
	})
}

// The exports that a host of hyper-mcp calls for what this plugin does not have.

//go:wasmexport list_resources
func listResources() int32 { return empty("resources") }

//go:wasmexport list_prompts
func listPrompts() int32 { return empty("prompts") }

//go:wasmexport on_roots_list_changed
func rootsChanged() int32 { return 0 }

func empty(name string) int32 {
	return answer(func(map[string]any) (map[string]any, error) { return map[string]any{name: []any{}}, nil })
}

func main() {}
