// Package template renders the part of Jinja that canvases use: text with expressions, tags and
// comments.
//
//	t, err := template.Parse("Hello {{ user.name|title }}")
//	text, err := t.Render(variables.Lookup)
//
// The output equals that of the Jinja2 3.1 sandbox with default settings, including the formatting
// of lists and floats. Any other output is a bug, except for testdata/differences.txt, which lists
// the Jinja2 recordings that are not reproduced. The files lexer.go, parser*.go, expr.go and
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
// A "-" inside a mark, as in {{- or -%}, removes the white space next to it. The tags that load
// other templates (include, import, from, extends) fail when they are executed: a canvas has one
// template.
//
// # Limits
//
// Templates are untrusted. A render counts its steps, its nesting and the strings it builds, and
// fails with an error that wraps [ErrLimit] before it can hang, exhaust memory or overflow the
// stack; see [Limits]. It starts no goroutine. Integers of variables may have up to 4300 digits;
// arithmetic is limited to 64 bits.
//
// The filters random, urlize and xmlattr, the function lipsum, characters by name (\N{...}) and
// several methods of strings (encode, expandtabs, istitle, swapcase, translate) are not supported.
package template
