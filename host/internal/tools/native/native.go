// Package native runs the components that need connections or files of the host, behind the
// engine's Tools port: ExeSQL, Email, ExcelProcessor, DocGenerator and Browser. All others are left
// to another port, which runs sandboxed modules.
package native

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/tools/browse"
	"github.com/easel-canvas/easel/host/internal/tools/docgen"
	"github.com/easel-canvas/easel/host/internal/tools/mail"
	"github.com/easel-canvas/easel/host/internal/tools/sheet"
	"github.com/easel-canvas/easel/host/internal/tools/sql"
)

// Files are the files of a run.
type Files interface {
	// Open finds a file by its descriptor: an upload, {id, name, ...}, or a file that a node made,
	// {doc_id, format, file_name}.
	Open(ctx context.Context, file engine.Value) (document.Source, error)
	// Save stores a file and returns {doc_id, format, file_name}.
	Save(ctx context.Context, name, format string, data []byte) (engine.Value, error)
}

// Port runs components of one run.
type Port struct {
	Network   *web.Client // dials servers, and refuses private addresses unless they are allowed
	Databases *sql.Runner // of ExeSQL
	Files     Files
	Documents *document.Reader
	Secrets   engine.Secrets // nil knows none
	Model     engine.Model   // acts in Browser nodes; nil runs none
	Chromium  string         // program that renders pages for Browser nodes; "" reads them without one
	Others    engine.Tools   // what is not served here; nil serves nothing else

	session browse.Session // of the Browser nodes that share theirs
}

var _ engine.Tools = (*Port)(nil)

// CallTool runs a component. Errors: those of the packages that serve it, without values of
// secrets.
func (p *Port) CallTool(ctx context.Context, c *engine.ExternalCall) (engine.Value, error) {
	run, ok := services[c.Component]
	if !ok {
		if p.Others == nil {
			const why = "it works only where a host offers it as a tool"
			return engine.Null, fmt.Errorf("%s: %w: %s", c.Component, engine.ErrNoPort, why)
		}
		return p.Others.CallTool(ctx, c)
	}
	box := web.NewSecretBox(p.Secrets, c.SecretMark)
	out, err := run(ctx, p, c, box)
	if err != nil {
		return engine.Null, box.PlainError(err)
	}
	text := out.JSON()
	if plain := box.Plain(text); plain != text {
		return engine.ParseJSONText(plain)
	}
	return out, nil
}

type service func(ctx context.Context, p *Port, c *engine.ExternalCall, box *web.SecretBox) (engine.Value, error)

var services = map[string]service{
	"ExeSQL": exeSQL, "Email": email, "ExcelProcessor": excelProcessor, "DocGenerator": docGenerator,
	"Browser": browser,
}

// Serves reports whether a component runs here.
func Serves(component string) bool {
	_, ok := services[component]
	return ok
}

// Missing returns why a requirement of a component is missing, in the words of a component's
// Requires: "database KIND". Others are asked of next.
func Missing(next func(requirement string) error) func(requirement string) error {
	return func(requirement string) error {
		if kind, ok := strings.CutPrefix(requirement, "database "); ok {
			return sql.Supports(kind)
		}
		return next(requirement)
	}
}

func exeSQL(ctx context.Context, p *Port, c *engine.ExternalCall, box *web.SecretBox) (engine.Value, error) {
	server := net.JoinHostPort(c.Params.Get("host").Text(), c.Params.Get("port").Text())
	params, err := fill(ctx, box, server, c.Params, "username", "password")
	if err != nil {
		return engine.Null, err
	}
	return p.Databases.Call(ctx, params, c.Arguments)
}

// Tables lists the tables of the database of an ExeSQL node, whose params hold their own text only:
// all placeholders of secrets count. Errors: as CallTool.
func (p *Port) Tables(ctx context.Context, params engine.Value) ([]string, error) {
	mark := engine.NewSecretMark()
	box := web.NewSecretBox(p.Secrets, mark)
	params = params.MapStrings(func(text string) string { return engine.MarkSecrets(text, mark) })
	server := net.JoinHostPort(params.Get("host").Text(), params.Get("port").Text())
	filled, err := fill(ctx, box, server, params, "username", "password")
	if err != nil {
		return nil, box.PlainError(err)
	}
	tables, err := p.Databases.Tables(ctx, filled)
	if err != nil {
		return nil, box.PlainError(err)
	}
	return tables, nil
}

func email(ctx context.Context, p *Port, c *engine.ExternalCall, box *web.SecretBox) (engine.Value, error) {
	server := net.JoinHostPort(c.Params.Get("smtp_server").Text(), c.Params.Get("smtp_port").Text())
	params, err := fill(ctx, box, server, c.Params, "smtp_username", "password")
	if err != nil {
		return engine.Null, err
	}
	return (&mail.Sender{Network: p.Network}).Call(ctx, params, c.Arguments, p.attachment)
}

func excelProcessor(ctx context.Context, p *Port, c *engine.ExternalCall, _ *web.SecretBox) (engine.Value, error) {
	return (&sheet.Processor{Documents: p.Documents, Files: p.Files}).Call(ctx, c.Params, c.Arguments)
}

func docGenerator(ctx context.Context, p *Port, c *engine.ExternalCall, _ *web.SecretBox) (engine.Value, error) {
	return (&docgen.Generator{Files: p.Files}).Call(ctx, c.Params, c.Arguments)
}

func browser(ctx context.Context, p *Port, c *engine.ExternalCall, _ *web.SecretBox) (engine.Value, error) {
	b := &browse.Browser{Network: p.Network, Model: p.Model, Files: p.Files, Chromium: p.Chromium, Session: &p.session}
	return b.Call(ctx, c.Params, c.Arguments, c.Key)
}

// fill replaces the secrets of the named params, which go to a server.
func fill(ctx context.Context, box *web.SecretBox, server string, params engine.Value, names ...string) (
	engine.Value, error,
) {
	for _, name := range names {
		text := params.Get(name).Text()
		if text == "" {
			continue
		}
		filled, err := box.Fill(ctx, server, text)
		if err != nil {
			return engine.Null, fmt.Errorf("param %s: %w", name, err)
		}
		params = params.With(name, engine.String(filled))
	}
	return params, nil
}

// mostAttachment bounds an attachment of a mail.
const mostAttachment = 25 << 20

func (p *Port) attachment(ctx context.Context, file engine.Value) (mail.Attachment, error) {
	source, err := p.Files.Open(ctx, file)
	if err != nil {
		return mail.Attachment{}, err
	}
	if source.Size > mostAttachment {
		return mail.Attachment{}, fmt.Errorf("%w: %s has %d bytes, at most %d",
			mail.ErrTooLarge, source.Name, source.Size, mostAttachment)
	}
	in, err := source.Open(ctx)
	if err != nil {
		return mail.Attachment{}, err
	}
	defer in.Close() // it was only read
	data := make([]byte, source.Size)
	if _, err := io.ReadFull(in, data); err != nil {
		return mail.Attachment{}, fmt.Errorf("file %s: %w", source.Name, err)
	}
	return mail.Attachment{Name: strings.TrimSpace(source.Name), Data: data}, nil
}
