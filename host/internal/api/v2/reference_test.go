package v2_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

var update = flag.Bool("update", false, "write docs/api.md from the OpenAPI document")

const referenceHead = `# HTTP API

Reference of easel's own HTTP API, ` + "`/api/v2`" + `, generated from the OpenAPI document that every host serves at ` + "`/api/v2/openapi.json`" + `.

- **Authentication**: ` + "`Authorization: Bearer KEY`" + `, or the login cookie of the page. The key or login needs the scope that an operation names.
- **Bodies** are JSON in UTF-8. Times are RFC 3339. Unknown members and unknown query parameters are refused with 400.
- **Errors** have the status that fits and the body ` + "`{\"error\": {\"code\": \"...\", \"message\": \"...\"}}`" + `. The codes are in [VOCABULARY.md](../engine/VOCABULARY.md).
- **Events** are server-sent events; their types are in [VOCABULARY.md](../engine/VOCABULARY.md).

The APIs for clients of RAGFlow and of OpenAI are described in [compatibility.md](compatibility.md).
`

// TestReference keeps docs/api.md equal to the OpenAPI document. After a change of the API:
//
//	go test ./host/internal/api/v2 -run Reference -update
func TestReference(t *testing.T) {
	s := apitest.New(t)
	paths := describe(t, s).paths
	b := reference{seen: map[string]string{}}
	b.WriteString(referenceHead)
	b.scopes()
	var group string
	for path, methods := range paths.Fields() {
		if next, _, _ := strings.Cut(strings.TrimPrefix(path, "/api/v2/"), "/"); next != group {
			group = next
			fmt.Fprintf(&b, "\n## %s\n", group)
		}
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if op, ok := methods.Lookup(method); ok {
				b.operation(strings.ToUpper(method), path, op)
			}
		}
	}
	file := filepath.FromSlash("../../../../docs/api.md")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
		return
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(text), b.String(), "run: go test ./host/internal/api/v2 -run Reference -update")
}

// TestPageShowsTheScopes keeps the permissions that the page offers for keys equal to the table.
func TestPageShowsTheScopes(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.FromSlash("../../../../web/" + name))
		require.NoError(t, err)
		return string(text)
	}
	require.Contains(t, read("run/admin.ts"), `keyScopes = ["`+strings.Join(app.Scopes, `", "`)+`"]`)
	words := read("words/settings.en.ts") + read("words/settings.zh.ts")
	for _, term := range app.ScopeTerms() {
		require.Contains(t, words, "\n  scope_"+term.Word+`_about: "`+term.Doc+"\",\n")
		require.Equal(t, 2, strings.Count(words, "\n  scope_"+term.Word+"_about: "), "English and Chinese")
		require.Equal(t, 2, strings.Count(words, "\n  scope_"+term.Word+": "))
	}
}

// reference writes operations. An object that was described before is not described again.
type reference struct {
	strings.Builder
	seen map[string]string // where an object is described, by the members of its schema
}

// scopes writes the table of scopes.
func (b *reference) scopes() {
	b.WriteString("\n## Scopes\n\nWhat a key or a login may do. A key without a list gets `" +
		strings.Join(app.KeyScopes, "` and `") + "`; through RAGFlow's API `" +
		strings.Join(app.RAGFlowScopes, "`, `") + "`. An empty list is refused. Normal members have `read`, `run`, " +
		"`edit` and `read_traces`, admins also `admin`, owners all. `host` and `metrics` count in the tenant that operates the host only.\n\n" +
		"| scope | what it allows |\n| --- | --- |\n")
	for _, term := range app.ScopeTerms() {
		fmt.Fprintf(b, "| `%s` | %s |\n", term.Word, term.Doc)
	}
}

func (b *reference) operation(method, path string, op engine.Value) {
	name := op.Get("operationId").Str()
	fmt.Fprintf(b, "\n### %s\n\n`%s %s`\n\n%s.", name, method, path, op.Get("summary").Str())
	if more := op.Get("description").Str(); more != "" {
		b.WriteString(" " + more)
	}
	b.WriteString("\n")
	if params := op.Get("parameters"); params.Len() > 0 {
		b.WriteString("\n| parameter | in | type | |\n| --- | --- | --- | --- |\n")
		for _, p := range params.Elements() {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Get("name").Str(), p.Get("in").Str(),
				p.Get("schema").Get("type").Str(), cell(p.Get("description").Str()))
		}
	}
	b.content(name, "Request body", op.Get("requestBody").Get("content"))
	for status, response := range op.Get("responses").Fields() {
		if status == "default" {
			continue
		}
		content := response.Get("content")
		if content.IsNull() {
			fmt.Fprintf(b, "\nResponse %s without a body.\n", status)
			continue
		}
		b.content(name, "Response "+status, content)
	}
}

// content writes the members of a body as a table.
func (b *reference) content(operation, title string, content engine.Value) {
	for kind, media := range content.Fields() {
		fmt.Fprintf(b, "\n%s, `%s`", title, kind)
		schema := media.Get("schema")
		if link := b.described(operation, strings.ToLower(title), schema); link != "" {
			fmt.Fprintf(b, ": as %s.\n", link)
			continue
		}
		var rows [][3]string
		b.rows(&rows, operation, "", schema)
		if len(rows) == 0 {
			b.WriteString(".\n")
			continue
		}
		b.WriteString(":\n\n| member | type | |\n| --- | --- | --- |\n")
		for _, r := range rows {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", r[0], r[1], cell(r[2]))
		}
	}
}

// described returns a link to the operation that describes an object, or remembers this one.
func (b *reference) described(operation, as string, schema engine.Value) string {
	const few = 3 // members that are rather repeated
	if schema.Get("properties").Len() <= few {
		return ""
	}
	key := string(schema.Get("properties").AppendJSON(nil))
	if at := b.seen[key]; at != "" {
		return at
	}
	b.seen[key] = fmt.Sprintf("%s of [%s](#%s)", as, operation, strings.ToLower(operation))
	return ""
}

// rows appends a row for each member of an object, with those inside it after it.
func (b *reference) rows(rows *[][3]string, operation, prefix string, schema engine.Value) {
	for name, member := range schema.Get("properties").Fields() {
		inner, path := member, prefix+name
		if items := member.Get("items"); !items.IsNull() {
			inner, path = items, path+"[]"
		}
		about, link := member.Get("description").Str(), b.described(operation, "`"+path+"`", inner)
		switch {
		case link == "":
		case about == "":
			about = "as " + link
		default:
			about += "; as " + link
		}
		*rows = append(*rows, [3]string{prefix + name, typeOf(member), about})
		if link == "" {
			b.rows(rows, operation, path+".", inner)
		}
	}
}

// typeOf names the type of a schema, such as string, array of object, or any.
func typeOf(schema engine.Value) string {
	var names []string
	if t := schema.Get("type"); t.Kind() == engine.KindList {
		for _, v := range t.Elements() {
			if v.Str() != "null" {
				names = append(names, v.Str())
			}
		}
	} else if t.Str() != "" {
		names = append(names, t.Str())
	}
	if len(names) == 0 {
		return "any"
	}
	if items := schema.Get("items"); !items.IsNull() {
		return "array of " + typeOf(items)
	}
	return strings.Join(names, " or ")
}

// cell escapes text for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
