package failure_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/emersion/go-smtp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/tools"
)

// services are doubles of everything that canvases reach outside of their host: the services of the
// built-in tools with the answers of the tools' own tests, an MCP server, a mail server, a model,
// and a database in a file.
type services struct {
	t         testing.TB
	url       string // of the services; a tool has its own at /svc/NAME
	model     string // base URL of the model
	mcp       string // address of the MCP server
	databases string // folder of SQLite files
	smtp      int    // port of the mail server
	mails     atomic.Int64

	mu     sync.Mutex
	asked  map[string]int // requests by the name of a tool
	choice int            // which categories the next Categorize nodes get: their digits, the first one lowest
}

// question is the query of users; the documents of the examples have an answer.
const question = "How long can I return shoes?"

// crawled is the page that the crawler's double serves.
const crawled = "/svc/web_crawler/page"

// statement is the model's default answer, because a node may run it.
const statement = "select name from goods"

func newServices(t testing.TB) *services {
	doubles, err := filepath.Glob(doubleOf("*"))
	require.NoError(t, err)
	require.NotEmpty(t, doubles, "no doubles of services in %s", doubleOf("*"))
	s := &services{t: t, databases: t.TempDir(), asked: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/svc/{tool}/", s.tool)
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<html><title>Coats</title><body><p>Warm coats of wool.</p></body></html>")
	})
	mux.Handle("/v1/chat/completions", &toolCaller{text: s.say, argument: s.argument})
	web := httptest.NewServer(mux)
	server := sdk.NewServer(&sdk.Implementation{Name: "lookup", Version: "1"}, nil)
	type input struct {
		Text string `json:"text"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "lookup", Description: "looks up"},
		func(_ context.Context, _ *sdk.CallToolRequest, in input) (*sdk.CallToolResult, any, error) {
			text := &sdk.TextContent{Text: "found " + in.Text}
			return &sdk.CallToolResult{Content: []sdk.Content{text}}, nil, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	mcp := httptest.NewServer(handler)
	for _, srv := range []*httptest.Server{web, mcp} {
		t.Cleanup(func() {
			_ = srv.Listener.Close() // Close would wait for streams that the SDK's server keeps open
			srv.CloseClientConnections()
		})
	}
	s.url, s.model, s.mcp = web.URL, web.URL+"/v1", mcp.URL
	s.openMail()
	db, err := sql.Open("sqlite", filepath.Join(s.databases, "shop.db"))
	require.NoError(t, err)
	_, err = db.Exec(`create table goods (name text); insert into goods values ('coat'), ('shoe')`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return s
}

// say returns the model's answer: the name of a category or JSON if a node requires it, otherwise a
// statement.
func (s *services) say(asked *chatRequest) string {
	system := ""
	if len(asked.Messages) > 0 {
		system = string(asked.Messages[0].Content)
	}
	const categories = "into one of these categories:\n"
	if _, list, ok := strings.Cut(system, categories); ok {
		list, _, _ = strings.Cut(list, "\n\n")
		names := strings.Split(strings.TrimSpace(list), "\n")
		s.mu.Lock()
		defer s.mu.Unlock()
		name := names[s.choice%len(names)]
		s.choice /= len(names) // the remaining digits are for the next such node
		return strings.TrimPrefix(name, "- ")
	}
	if _, text, ok := strings.Cut(system, "fits the JSON Schema below"); ok {
		_, text, _ = strings.Cut(text, "\n\n")
		if schema, err := engine.ParseJSONText(text); err == nil {
			return (&toolCaller{argument: s.argument}).sample("", "", schema).JSON()
		}
	}
	return statement
}

// argument returns the value of a string argument of a function.
func (s *services) argument(function, name string) string {
	switch {
	case strings.HasPrefix(function, "web_crawler"):
		return s.url + crawled
	case strings.HasPrefix(function, "search_my_dateset"):
		return question
	}
	switch name {
	case "url", "urls":
		return s.url + "/page"
	case "sql":
		return statement
	case "to_email", "cc_email":
		return "b@example.org"
	case "script":
		return "def main():\n    return {'result': 7}"
	}
	return "warm coats"
}

// doubleOf returns the file with the requests and answers of a tool's service.
func doubleOf(tool string) string { return filepath.Join("../internal/tools/testdata", tool+".json") }

// exchange is a request to a service with its answer.
type exchange struct {
	Method, Path string
	Query        map[string]string
	Answer       struct {
		Status int
		Type   string
		JSON   json.RawMessage
		Text   string
	}
}

// exchangesOf returns the exchanges of the tests of a tool.
func exchangesOf(tool string) (list []exchange, err error) {
	files, err := filepath.Glob(strings.TrimSuffix(doubleOf(tool), "json") + "*json")
	for _, file := range files {
		var double struct{ Exchanges []exchange }
		raw, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(raw, &double)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, double.Exchanges...)
	}
	return list, err
}

// tool answers as the service of a tool does, with the exchange of its test that is most like the
// request.
func (s *services) tool(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("tool")
	s.mu.Lock()
	turn := s.asked[name]
	s.asked[name]++
	s.mu.Unlock()
	exchanges, err := exchangesOf(name)
	if err != nil || len(exchanges) == 0 {
		http.Error(w, fmt.Sprintf("no double of %s: %v", name, err), http.StatusNotImplemented)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/svc/"+name)
	best, most := 0, -1
	for i, e := range exchanges {
		like := 0
		if e.Method == r.Method && e.Path == path {
			like = 100
		}
		if i == turn%len(exchanges) {
			like++ // the same request again has the next answer
		}
		for key, value := range e.Query {
			if r.URL.Query().Get(key) == value {
				like++
			}
		}
		if like > most {
			best, most = i, like
		}
	}
	answer := exchanges[best].Answer
	w.Header().Set("Content-Type", answer.Type)
	w.WriteHeader(answer.Status)
	_, _ = w.Write(append(answer.JSON, answer.Text...)) // the host may be gone
}

// choose sets which categories the Categorize nodes of the next run get.
func (s *services) choose(choice int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.choice = choice
}

// times returns the number of requests to the service of a tool.
func (s *services) times(tool string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[tool]
}

// mailbox is one delivery to the mail server.
type mailbox struct{ services *services }

func (mailbox) Mail(string, *smtp.MailOptions) error { return nil }
func (mailbox) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (mailbox) Reset()                               {}
func (mailbox) Logout() error                        { return nil }

func (m mailbox) Data(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	if err == nil {
		m.services.mails.Add(1)
	}
	return err
}

// openMail starts a mail server that takes every mail, without accounts.
func (s *services) openMail() {
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return mailbox{s}, nil }))
	server.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(s.t, err)
	go func() { _ = server.Serve(l) }() // it ends when the test closes it
	s.t.Cleanup(func() { _ = server.Close() })
	s.smtp = l.Addr().(*net.TCPAddr).Port
}

// settle sets the params of a component that a person fills in when a template is used: addresses,
// keys, accounts, datasets and models. Tools of agents are settled too.
func (s *services) settle(component string, params map[string]any, mcpID string) {
	for _, name := range []string{"llm_id", "rerank_id"} {
		if _, ok := params[name]; ok {
			params[name] = ""
		}
	}
	list, err := tools.All()
	require.NoError(s.t, err)
	for _, t := range list {
		if t.Component != component {
			continue
		}
		params[t.BaseParam()] = s.url + "/svc/" + t.Name()
		m, err := contract.ParseManifest(t.Manifest)
		require.NoError(s.t, err)
		for name := range m.Permissions.Secrets {
			params[name] = "0123456789abcdef"
		}
	}
	settings := map[string]map[string]any{
		"ExeSQL": {"db_type": "sqlite", "database": "shop.db"},
		"Email": {
			"smtp_server": "127.0.0.1", "smtp_port": s.smtp, "email": "a@example.org", "password": "",
			"to_email": "b@example.org", "subject": "s",
		},
		"Retrieval": {"kb_ids": []string{"shop"}},
		"Invoke":    {"url": s.url + "/page", "method": "get"},
		"Crawler":   {"query": s.url + crawled},
		"Browser":   {"prompts": "Read " + s.url + "/page"},
	}
	for name, value := range settings[component] {
		params[name] = value
	}
	agents, _ := params["tools"].([]any)
	for _, one := range agents {
		tool, _ := one.(map[string]any)
		inner, ok := tool["params"].(map[string]any)
		if !ok {
			inner = map[string]any{}
			tool["params"] = inner
		}
		name, _ := tool["component_name"].(string)
		s.settle(name, inner, mcpID)
	}
	servers, _ := params["mcp"].([]any)
	for _, one := range servers {
		one.(map[string]any)["mcp_id"] = mcpID
	}
}
