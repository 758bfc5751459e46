package enginetest

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// HTTPAddress is the address of the scripted server; all other addresses refuse connections.
const HTTPAddress = "127.0.0.1:18099"

// HTTP is an engine.HTTP with one server in it, which returns the request it got. No socket is
// opened.
//
//	/html...    200 text/html         a page with a title and a paragraph
//	/status...  500 text/plain        broken
//	else 200 application/json {"body", "ct", "method", "path", "x"} of the request; x is the
//	header X-Test
type HTTP struct{}

const htmlPage = "<html><head><style>x{}</style></head><body><h1>Title</h1><p>Body</p></body></html>"

// Do answers a request. Every address but HTTPAddress refuses the connection.
func (HTTP) Do(ctx context.Context, req *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	host, path, err := splitURL(req.URL)
	if err != nil {
		return nil, err
	}
	if req.Proxy != "" {
		// A proxy is asked with the whole URL in the request line.
		if host, _, err = splitURL(req.Proxy); err != nil {
			return nil, fmt.Errorf("proxy: %w", err)
		}
		path = req.URL
	}
	if host != HTTPAddress {
		return nil, fmt.Errorf("connect to %s: connection refused", host)
	}
	return serve(strings.ToUpper(req.Method), path, req), nil
}

func serve(method, path string, req *engine.HTTPRequest) *engine.HTTPResponse {
	switch {
	case method != "GET" && method != "POST" && method != "PUT":
		return respond(501, "text/plain", "unsupported method")
	case strings.HasPrefix(path, "/html"):
		return respond(200, "text/html", htmlPage)
	case strings.HasPrefix(path, "/status"):
		return respond(500, "text/plain", "broken")
	}
	echo := engine.Object("body", req.Body, "ct", header(req, "Content-Type"), "method", method, "path", path, "x",
		header(req, "X-Test"))
	return respond(200, "application/json", echo.Text())
}

func respond(status int, contentType, body string) *engine.HTTPResponse {
	return &engine.HTTPResponse{Status: status, Body: body, Header: []engine.HTTPHeader{
		{Name: "Content-Type", Value: contentType},
		{Name: "Content-Length", Value: strconv.Itoa(len(body))},
	}}
}

// header returns the value of a request header, or null.
func header(req *engine.HTTPRequest, name string) engine.Value {
	for _, h := range req.Header {
		if strings.EqualFold(h.Name, name) {
			return engine.String(h.Value)
		}
	}
	return engine.Null
}

// splitURL cuts an http URL into host and request target.
func splitURL(url string) (host, path string, err error) {
	rest, ok := strings.CutPrefix(url, "http://")
	if !ok {
		return "", "", fmt.Errorf("url %q: only http is known here", url)
	}
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		return rest, "/", nil
	}
	host, path = rest[:end], rest[end:]
	if path[0] == '?' {
		path = "/" + path
	}
	return host, path, nil
}
