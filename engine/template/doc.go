// Package template renders the part of Jinja that canvases use: text with expressions, tags and
// comments.
//
//	t, err := template.Parse("Hello {{ user.name|title }}")
//	text, err := t.Render(variables.Lookup)
//
// The result is that of the sandbox of Jinja2 3.1 with default settings, down to the printing of
// lists and floats. Other results are bugs, except those of testdata/differences.txt, which lists
// the recordings of Jinja2 that are not met. The files lexer.go, parser*.go, expr.go and
// statement.go are the stages of a render; filters, tests, methods and global functions are rows of
// tables.
//
// # Grammar
//
//	template   = { text | "{{" tuple "}}" | "{%" tag "%}" | "{#" comment "#}" }
//	tag        = if | for | set | with | macro | call | filter | block | autoescape | print | raw
//	expression = or [ "if" or [ "else" expression ] ]
//	or         = and { "or" and }                and     = not { "and" not }
//	not        = "not" not | compare             compare = sum { ( "==" | "<" | "in" | ... ) sum }
//	sum        = join { ( "+" | "-" ) join }     join    = product { "~" product }
//	product    = power { ( "*" | "/" | "//" | "%" ) power }
//	power      = unary { "**" unary }
//	unary      = ( "-" | "+" ) unary | primary { attribute | item | call } { filter | test }
//
// A "-" inside of a mark, as in {{- or -%}, removes the white space next to it. The tags for
// several templates (include, import, from, extends) fail when they are reached: a canvas has one
// template.
//
// # Limits
//
// Templates are untrusted. A render counts its steps, its nesting and the texts it makes, and fails
// with an error that wraps [ErrLimit] before it can hang, exhaust memory or overflow the stack; see
// [Limits]. It starts no goroutine. Integers of variables may have up to 4300 digits; arithmetic is
// limited to 64 bits.
//
// The filters random, urlize and xmlattr, the function lipsum, characters by name (\N{...}) and
// several methods of strings (encode, expandtabs, istitle, swapcase, translate) are not supported.
package template
