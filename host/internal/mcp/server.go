package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/host/internal/egress/redact"
)

// Transports of a server, as stored.
const (
	TypeSSE        = "sse"
	TypeStreamable = "streamable-http"
	TypeStdio      = "stdio"
)

var (
	// ErrType means that the transport is not one of sse, streamable-http and stdio; correct the
	// configuration.
	ErrType = errors.New("unsupported MCP server type")
	// ErrAddress means that the address is not an http or https URL; correct the configuration.
	ErrAddress = errors.New("invalid MCP server address")
	// ErrCommand means that a stdio server has no command; correct the configuration.
	ErrCommand = errors.New("invalid MCP server command")
	// ErrStdio means that this host does not start servers as processes; its operator allows it
	// with --mcp-stdio.
	ErrStdio = errors.New("MCP servers over stdio are not allowed on this host; start it with --mcp-stdio")
	// ErrServer means that the server failed to respond as MCP requires; retry or check its
	// address.
	ErrServer = errors.New("MCP server does not answer")
	// ErrTooLarge means that a server sent more than the client reads; request less.
	ErrTooLarge = errors.New("the answer of the MCP server is too large")
)

// Server is the configuration of a server. URL, headers, arguments and environment may contain the
// variables of Values as {{name}}, ${name} or $name.
type Server struct {
	ID      string
	Name    string
	Type    string
	URL     string            // of sse and streamable-http
	Headers map[string]string // of sse and streamable-http
	Command string            // of stdio
	Args    []string          // of stdio
	Env     map[string]string // of stdio: the environment besides PATH and HOME
	Values  map[string]string
}

// Check reports an invalid transport, address or command.
func (s *Server) Check() error {
	switch s.Type {
	case TypeStdio:
		if s.Command == "" || strings.ContainsRune(s.Command, 0) {
			return fmt.Errorf("%w: %.80q", ErrCommand, s.Command)
		}
		return nil
	case TypeSSE, TypeStreamable:
	default:
		return fmt.Errorf("%w: %.40q; accepted are %s, %s and %s", ErrType, s.Type, TypeSSE, TypeStreamable, TypeStdio)
	}
	u, err := url.Parse(s.resolve(s.URL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(s.URL) > 2048 {
		return fmt.Errorf("%w: %.80q", ErrAddress, redact.Address(s.URL))
	}
	return nil
}

// variable matches a variable in a configured text: {{name}}, ${name}, $name, or $$ for a dollar
// sign.
var variable = regexp.MustCompile(`\{\{([^{}]+)\}\}|\$\$|\$\{([^{}]+)\}|\$([A-Za-z_][A-Za-z0-9_]*)`)

// resolve replaces the variables of a text that have a value. Values are not searched for
// variables.
func (s *Server) resolve(text string) string {
	if len(s.Values) == 0 {
		return text // resolved already, or without variables
	}
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		if value, ok := s.Values[strings.Trim(found, "${} ")]; ok {
			return value
		}
		return found
	})
}

// resolved returns the server with the values of its variables. Headers that end up empty, or with
// a bare Bearer scheme, are omitted.
func (s *Server) resolved() Server {
	out := Server{ID: s.ID, Name: s.Name, Type: s.Type, URL: s.resolve(s.URL), Command: s.Command}
	out.Headers, out.Env = map[string]string{}, map[string]string{}
	for name, value := range s.Headers {
		value = s.resolve(value)
		if rest := strings.TrimSpace(value); rest != "" && !strings.EqualFold(rest, "bearer") {
			out.Headers[http.CanonicalHeaderKey(s.resolve(name))] = value
		}
	}
	for _, arg := range s.Args {
		out.Args = append(out.Args, s.resolve(arg))
	}
	for name, value := range s.Env {
		out.Env[name] = s.resolve(value)
	}
	return out
}

// header returns the headers to send.
func (s *Server) header() http.Header {
	h := http.Header{}
	for name, value := range s.resolved().Headers {
		h.Set(name, value)
	}
	return h
}

// fingerprint identifies a configuration: equal ones can share a connection.
func (s *Server) fingerprint() string {
	text, err := json.Marshal(s)
	if err != nil { // strings only
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
