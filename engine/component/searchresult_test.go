package component

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestSearchResultsBecomeReferences(t *testing.T) {
	long := strings.Repeat("ä", resultRunes+5)
	port := &outdoors{outs: engine.Object("chunks", engine.List(
		engine.Object("title", "One", "url", "http://one", "score", 0.5,
			"content", "first ![x](data:image/png;base64,AAAA) text"),
		engine.Object("title", "Empty", "url", "http://empty", "content", " "),
		engine.Object("title", "Two", "url", "http://two", "content", long, "score", 1)))}
	search := node(t, "Wikipedia", `{}`, "{X@formalized_content} [ID:1]")
	s := run(t, search, nil, "q", engine.Null, engine.Ports{Tools: port})
	require.NoError(t, s.err)
	text := s.outs.Get("formalized_content").Text()
	require.Contains(t, text, "├── Title: One\n├── URL: http://one\n└── Content:\nfirst  text")
	require.NotContains(t, text, "Empty")
	require.Contains(t, text, strings.Repeat("ä", resultRunes))
	require.NotContains(t, text, strings.Repeat("ä", resultRunes+1))
	require.Contains(t, text, "ID: "+numberOf("first  text"))
}

func numberOf(content string) string {
	return engine.Int(int64(engine.CitationNumber(engine.ChunkID(content)))).Text()
}

func TestWithoutImagesKeepsOtherLinks(t *testing.T) {
	for in, want := range map[string]string{
		"a [b](http://c) d":                      "a [b](http://c) d",
		"](data:image/png;base64,x) rest":        "](data:image/png;base64,x) rest",
		"[a](data:image/png;base64,x":            "[a](data:image/png;base64,x",
		"![a](data:image/x)[b](data:image/y)end": "end",
	} {
		require.Equal(t, want, withoutImages(in), in)
	}
}
