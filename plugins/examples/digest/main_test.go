package main

import (
	"strings"
	"testing"

	"github.com/easel-canvas/easel/plugins/sdk"
)

func TestDigest(t *testing.T) {
	long := strings.Repeat("word ", 1000) + "\n\n" + strings.Repeat("å", 3000)
	for _, c := range []struct {
		name, text string
		calls      int
		code       string
	}{
		{"a short text takes one request", "A text.", 1, ""},
		{"a long text is split", long, 3, ""},
		{"an empty text is refused", "  ", 0, sdk.InvalidArgument},
		{"too long a text is refused", strings.Repeat("x", maxParts*partSize+1), 0, sdk.InvalidArgument},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []sdk.Chat
			f := sdk.Fake{Models: func(q sdk.Chat) (sdk.Reply, error) {
				asked = append(asked, q)
				return sdk.Reply{Text: "short"}, nil
			}}
			out, err := digest(f.Call(), Params{Words: 7}, Args{Text: c.text})
			if (err == nil) != (c.code == "") || err != nil && !sdk.IsCode(err, c.code) {
				t.Fatalf("got %v", err)
			}
			if len(asked) != c.calls {
				t.Fatalf("asked %d times", len(asked))
			}
			if c.calls > 0 && (out.Text != "short" || !asked[c.calls-1].Stream || !strings.Contains(asked[0].Messages[0].Content, "7 words")) {
				t.Errorf("got %q after %+v", out.Text, asked)
			}
		})
	}
}

func TestDigestStopsWhenCancelled(t *testing.T) {
	f := sdk.Fake{CancelAfter: 1, Models: func(sdk.Chat) (sdk.Reply, error) { return sdk.Reply{}, nil }}
	if _, err := digest(f.Call(), Params{}, Args{Text: strings.Repeat("x", partSize+1)}); err != sdk.ErrCancelled {
		t.Errorf("got %v", err)
	}
}
