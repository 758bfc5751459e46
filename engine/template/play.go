package template

import "github.com/easel-canvas/easel/engine"

// PlayCase renders one recorded case: in goes a JSON object with "name", "template" and "context", out comes
// {"name", "text"} or, when it fails, {"name", "error"}.
func PlayCase(line []byte) []byte {
	c, err := engine.ParseJSON(line)
	text := ""
	if err == nil {
		text, err = play(c.Get("template").Str(), c.Get("context"))
	}
	out := engine.AppendQuoted([]byte(`{"name":`), c.Get("name").Str())
	if err != nil {
		out = engine.AppendQuoted(append(out, `,"error":`...), err.Error())
	} else {
		out = engine.AppendQuoted(append(out, `,"text":`...), text)
	}
	return append(out, '}')
}

func play(text string, context engine.Value) (string, error) {
	t, err := Parse(text)
	if err != nil {
		return "", err
	}
	return t.Render(context.Lookup)
}
