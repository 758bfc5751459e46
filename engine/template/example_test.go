package template_test

import (
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/template"
)

func Example() {
	t, err := template.Parse("{% for d in docs %}{{ loop.index }}. {{ d.name|title }}\n" +
		"{% else %}nothing found{% endfor %}")
	if err != nil {
		fmt.Println(err)
		return
	}
	docs := engine.List(engine.Object("name", "first page"), engine.Object("name", "appendix"))
	variables := engine.Object("docs", docs)
	text, err := t.Render(variables.Lookup)
	fmt.Print(text, err)
	// Output:
	// 1. First Page
	// 2. Appendix
	// <nil>
}
