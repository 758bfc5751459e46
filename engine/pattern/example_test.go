package pattern_test

import (
	"fmt"

	"github.com/easel-canvas/easel/engine/pattern"
)

func ExamplePattern_Find() {
	p := pattern.MustCompile(`Chapter (?:\d+|[IVX]+)(?!\w)`)
	text := "See Chapter IV for more."
	start, end := p.Find(text, 0)
	fmt.Println(text[start:end], p.Match(text))
	// Output: Chapter IV false
}
