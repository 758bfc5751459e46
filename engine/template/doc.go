// Package template renders the part of Jinja that canvases use: text with {{ expressions }}, {% tags %} and
// {# comments #}.
//
// A text is parsed once and may then be rendered by many goroutines, each with variables of its own:
//
//	t, err := template.Parse("Hello {{ user.name|title }}")
//	text, err := t.Render(variables.Lookup)
//
// What it gives is what Jinja2 3.1 in its sandbox gives with default settings, down to the printing of lists and
// floats; testdata holds recordings of the original and the tests play them. So "differs from Jinja" is a mistake
// here, except where the next but one paragraph says otherwise.
//
// # Grammar
//
//	template   = { text | "{{" tuple "}}" | "{%" tag "%}" | "{#" comment "#}" }
//	tag        = if | for | set | with | macro | call | filter | block | autoescape | print | raw
//	if         = "if" test body { "elif" test body } [ "else" body ] "endif"
//	for        = "for" targets "in" tuple [ "if" expression ] [ "recursive" ] body [ "else" body ] "endfor"
//	set        = "set" targets "=" tuple | "set" targets { "|" filter } body "endset"
//	expression = or [ "if" or [ "else" expression ] ]
//	or         = and { "or" and }                and     = not { "and" not }
//	not        = "not" not | compare             compare = sum { ( "==" | "<" | "in" | ... ) sum }
//	sum        = join { ( "+" | "-" ) join }     join    = product { "~" product }
//	product    = power { ( "*" | "/" | "//" | "%" ) power }
//	power      = unary { "**" unary }
//	unary      = ( "-" | "+" ) unary | primary { attribute | item | call } { "|" filter | "is" test }
//
// A "-" inside of a mark, as in {{- or -%}, removes the blanks next to it. The tags of several templates (include,
// import, from, extends) parse and fail when they are reached: a canvas has no other templates.
//
// # What is left out
//
// The filter "random" and the function "lipsum" would make renders differ. Characters by name (\N{...}), complex
// numbers, the filter urlize and the methods encode and translate are missing; so are %a, %*d and a precision of %d.
// The filter pprint writes one line.
//
// Arithmetic on integers ends at 64 bits: a larger result, operand or literal is an error. Larger integers in
// variables are printed, compared and passed on with all their digits, up to 4300 of them.
//
// # Limits
//
// Templates come from strangers. Each render counts its steps, its depth and the size of what it makes, and ends with
// an error that wraps [ErrLimit] before it can hang, fill the memory or overflow the stack; see [Limits]. Nothing runs
// in the background and nothing outlives a render.
//
// # How it is built
//
// lexer.go cuts the text into tokens, parser*.go builds a tree, and the nodes of the tree evaluate themselves
// (expr.go, statement.go, for.go, macro.go). Values are plain Go values; lists and objects of the engine are wrapped
// and unpacked only when a template looks into them (value.go, list.go, dict.go). Filters, tests, methods and global
// functions are rows of tables: to add one, add a row.
package template
