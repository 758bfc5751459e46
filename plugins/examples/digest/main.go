// Command digest is a tool that calls a language model.
//
// It shows how a plugin divides a long text into parts, calls the model for each, and streams the
// last answer to the user. The plugin does not see the name or the price of the model; its calls
// are limited.
package main

import (
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/plugins/sdk"
)

// Params are set by the author of a canvas.
type Params struct {
	Words int `json:"words" default:"60" min:"5" max:"500" doc:"how long the digest may be, in words"`
}

// Args come from a model, or from the references of a node.
type Args struct {
	Text string `json:"text" doc:"the text to shorten"`
}

// Out are the outputs for other nodes.
type Out struct {
	Text string `json:"text" doc:"the digest"`
}

// A part has at most partSize bytes; at most maxParts are sent to the model.
const (
	partSize = 6000
	maxParts = 4
)

func init() {
	sdk.Register(sdk.Manifest{
		Name: "digest", Version: "1.0.0", Display: map[string]string{"en": "Digest"}, Category: "text", License: "Apache-2.0",
		Description: "Shortens a text with a language model.", Streams: true, Preview: "server", Requires: []string{"llm.chat@1"},
		Limits:      &sdk.Limits{MemoryMB: 32, TimeoutMS: 60_000},
		Permissions: &sdk.Permissions{LLM: &sdk.CountPermission{MaxCalls: maxParts + 1, Reason: "Shortens each part, then all of them together."}},
	}, digest)
}

func digest(c *sdk.Call, p Params, a Args) (Out, error) {
	text := strings.TrimSpace(a.Text)
	if text == "" {
		return Out{}, sdk.Fail(sdk.InvalidArgument, "text is empty")
	}
	list := parts(text)
	if len(list) > maxParts {
		return Out{}, sdk.Fail(sdk.InvalidArgument, "text of %d bytes, at most %d are read", len(text), maxParts*partSize)
	}
	if len(list) > 1 {
		for i, part := range list {
			if err := c.Progress(float64(100*i/len(list)), fmt.Sprintf("part %d of %d", i+1, len(list))); err != nil {
				return Out{}, err
			}
			r, err := c.Chat(request(part, p.Words, false))
			if err != nil {
				return Out{}, fmt.Errorf("part %d: %w", i+1, err)
			}
			list[i] = r.Text
		}
	}
	r, err := c.Chat(request(strings.Join(list, "\n\n"), p.Words, true))
	return Out{Text: r.Text}, err
}

func request(text string, words int, stream bool) sdk.Chat {
	return sdk.Chat{Stream: stream, Messages: []sdk.Message{
		{Role: "system", Content: fmt.Sprintf("Shorten the user's text to at most %d words. Keep names and numbers. Answer with the short text only.", words)},
		{Role: "user", Content: text},
	}}
}

// parts divides a text between paragraphs, or within one that is too long.
func parts(text string) []string {
	var list []string
	for len(text) > partSize {
		at := strings.LastIndex(text[:partSize], "\n\n")
		if at <= 0 {
			for at = partSize; text[at]&0xC0 == 0x80; at-- { // not within a character
			}
		}
		list = append(list, strings.TrimSpace(text[:at]))
		text = strings.TrimSpace(text[at:])
	}
	return append(list, text)
}

func main() {}
