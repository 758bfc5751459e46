package node

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// maxResultJSON limits the part of an answer that a model reads besides its text, in bytes of JSON.
const maxResultJSON = 32 << 10

// result returns the form of an answer for a model, by section 4 of the contract: the output text,
// a blank line, and one JSON object of the citations and the other outputs. An answer with only a
// text is that text, one without a text is the object.
func result(call *engine.Call, a contract.Answer) engine.Value {
	text, hasText := a.Outputs.Lookup("text")
	hasText = hasText && text.Kind() == engine.KindString
	r := resultObject{object: engine.NewObject(a.Outputs.Len())}
	if cited := citations(call, a.Citations); cited.Len() > 0 {
		r.add("citations", cited)
	}
	for i := range a.Outputs.Len() {
		if name := a.Outputs.Key(i); name != "text" || !hasText {
			r.add(name, a.Outputs.At(i))
		}
	}
	if len(a.Files) > 0 {
		r.add("attachments", engine.List(a.Files...))
	}
	rest := r.value()
	switch {
	case !hasText:
		return rest
	case rest.Len() == 0:
		return text
	}
	return engine.String(text.Str() + "\n\n" + rest.Text())
}

// resultObject collects members up to maxResultJSON.
type resultObject struct {
	object *engine.ObjectBuilder
	size   int
	over   []string // names of omitted outputs
}

func (r *resultObject) add(name string, v engine.Value) {
	size := len(name) + len(v.AppendJSON(nil))
	if r.size+size > maxResultJSON {
		r.over = append(r.over, name)
		return
	}
	r.size += size
	r.object.Set(name, v)
}

func (r *resultObject) value() engine.Value {
	if len(r.over) > 0 {
		r.object.Set("left_out", engine.Strings(r.over...))
	}
	return r.object.Value()
}

// cite adds the citations of an answer to the references of the run.
func cite(call *engine.Call, list []contract.Citation) {
	if len(list) == 0 {
		return
	}
	chunks, documents := make([]engine.Value, len(list)), make([]engine.Value, 0, len(list))
	for i, c := range list {
		chunks[i] = engine.Object("id", c.ID, "content", c.Content, "document_name", c.Title, "url", c.URL)
		if c.Title != "" {
			documents = append(documents, engine.Object("doc_name", c.Title, "doc_id", c.ID, "count", 1, "url", c.URL))
		}
	}
	call.Cite(chunks, documents)
}

// citations lists the citations of an answer with their reference numbers in the run, which
// a model uses to cite them: [ID:12].
func citations(call *engine.Call, list []contract.Citation) engine.Value {
	if len(list) == 0 {
		return engine.Null
	}
	numbers, chunks := map[string]string{}, call.Chunks()
	for i := range chunks.Len() {
		numbers[chunks.At(i).Get("id").Text()] = chunks.Key(i)
	}
	out := make([]engine.Value, 0, len(list))
	for _, c := range list {
		number, ok := engine.ParseNumber(numbers[c.ID])
		if !ok {
			continue // the run accepts no more references
		}
		b := engine.NewObject(4).Set("ID", number)
		if c.Title != "" {
			b.Set("title", engine.String(c.Title))
		}
		if c.URL != "" {
			b.Set("url", engine.String(c.URL))
		}
		out = append(out, b.Set("content", engine.String(c.Content)).Value())
	}
	return engine.List(out...)
}
