package component

import (
	"encoding/base64"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Stand-ins for external components in previews without access to the outside. Each invented output
// is marked as such, so that a canvas runs to its end and no output is mistaken for a result.

// notice returns the message that a component was not called, in the language of the question. It
// does not repeat the question: a model would take it for a result.
func notice(name string, args engine.Value) string {
	for _, r := range asked(args) {
		if isHan(r) {
			return "替身：没有调用 " + name + "。"
		}
	}
	return "Stand-in: " + name + " was not called."
}

// isHan reports a Chinese character. It does without the tables of package unicode, for the size of
// the page's module.
func isHan(r rune) bool { return 0x3400 <= r && r <= 0x9fff || 0x20000 <= r && r <= 0x3ffff }

// asked returns the first argument as text.
func asked(args engine.Value) string {
	for _, v := range args.Fields() {
		return v.Text()
	}
	return ""
}

// invents returns a stand-in with invented outputs.
func invents(answer func(args engine.Value) engine.Value) engine.StandIn {
	return func(args, _ engine.Value) (engine.Value, bool) { return answer(args), true }
}

// standInFor returns the stand-in of an external component by its main output.
func standInFor(name, result string) engine.StandIn {
	switch result {
	case passages, "json":
		return invents(func(args engine.Value) engine.Value { return inventedPassage(name, args) })
	case "success":
		return invents(func(engine.Value) engine.Value { return engine.Object("success", false) })
	}
	return invents(func(args engine.Value) engine.Value { return engine.Object(result, notice(name, args)) })
}

// inventedPassage returns the result of a search: one passage with a notice that nothing was
// searched.
func inventedPassage(name string, args engine.Value) engine.Value {
	if asked(args) == "" {
		return engine.Object("chunks", engine.List(), "doc_aggs", engine.List())
	}
	content, source := notice(name, args), name+" (stand-in)"
	chunk := engine.Object("id", "stand-in-"+name, "content", content, "document_id", source, "document_name", source,
		"similarity", 1)
	return engine.Object("chunks", engine.List(chunk),
		"doc_aggs", engine.List(engine.Object("doc_name", source, "doc_id", source, "count", 1)),
		"json", engine.List(engine.Object("title", source, "content", content)))
}

// writtenFile describes a file that a stand-in wrote. Its id is a hash of the content.
func writtenFile(name, mimeType, text string) *engine.ObjectBuilder {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name + "\x00" + text)) // never an error
	return engine.NewObject(7).Set("doc_id", engine.String(strconv.FormatUint(sum.Sum64(), 16))).
		Set("filename", engine.String(name)).Set("mime_type", engine.String(mimeType)).
		Set("size", engine.Int(int64(len(text)))).
		Set("base64", engine.String(base64.StdEncoding.EncodeToString([]byte(text))))
}

// escapeHTML escapes text for the content of an HTML element.
var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
