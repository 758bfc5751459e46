package component

import (
	"errors"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// filesVariable holds the uploaded files of the conversation: texts and the data URLs of images.
const filesVariable = "sys.files"

// attachUploads appends the text of uploaded files to the last user message and adds their images,
// if the model takes any. Prompts that contain the files themselves get nothing added, and the
// canvas can switch it off (settings.files_to_model). Files of an earlier turn stay in sys.files
// until others replace them, so the model sees them again.
//
// Source: RAGFlow agent/component/llm.py (behaviour only). Differs: a model without images gets
// none, and the run warns.
func (l *LLM) attachUploads(call *engine.Call, c *conversation, takesImages func() bool) error {
	if !call.FilesToModel() || l.namesUploads() {
		return nil
	}
	var texts, images []string
	seen := c.images()
	size := int64(0)
	unseen := 0
	for _, f := range call.Global(filesVariable).Elements() {
		switch {
		case f.Kind() != engine.KindString:
		case !strings.HasPrefix(f.Str(), imageURL):
			texts = append(texts, f.Str())
			size += int64(len(f.Str()))
		case slices.Contains(seen, f.Str()):
		case takesImages():
			images = append(images, f.Str())
		default:
			unseen++
		}
	}
	if unseen > 0 {
		warn(call, "files", errors.New("the model takes no images, so uploaded images are not sent"))
	}
	if len(texts) > 0 {
		if err := call.CheckText(size); err != nil {
			return err
		}
		c.attach("\n\n" + strings.Join(texts, "\n\n"))
	}
	c.show(images)
	return nil
}

// namesUploads reports whether a prompt contains the uploaded files, or a part of them.
func (l *LLM) namesUploads() bool {
	named := func(r engine.Ref) bool {
		return r.Expr == filesVariable || strings.HasPrefix(r.Expr, filesVariable+".")
	}
	return slices.ContainsFunc(l.SysPrompt.Refs(), named) || slices.ContainsFunc(l.Prompt.Refs(), named) ||
		slices.ContainsFunc(l.references, named)
}

// attach appends a text to the last message, which must be the user's; else it becomes a message.
func (c *conversation) attach(text string) {
	if n := len(c.messages); n == 0 || c.messages[n-1].Role != "user" {
		text = strings.TrimLeft(text, "\n")
		c.messages = append(c.messages, engine.ModelMessage{Role: "user"})
	}
	c.messages[len(c.messages)-1].Content += text
	c.attached = len(text)
}
