package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// SDK makes the calls of RAGFlow's Python SDK and reads the same fields of the responses: it fails
// where the SDK raises. Newer selects version 0.27.0 instead of 0.23.1.
//
// Source: sdk/python of RAGFlow at 80a16e71 and b1b8cd62 (behaviour read, reimplemented).
type SDK struct {
	Base  string // without /api/v1
	Key   string
	Newer bool
}

// Row is a JSON object; every member becomes an attribute in the SDK.
type Row = map[string]any

// KeyError is Python's exception for a missing member.
type KeyError string

func (k KeyError) Error() string { return fmt.Sprintf("KeyError: '%s'", string(k)) }

// errShape is Python's exception for a value of an unexpected type.
var errShape = errors.New("AttributeError: a value of another type")

// member returns row[name].
func member(row Row, name string) (any, error) {
	v, ok := row[name]
	if !ok {
		return nil, KeyError(name)
	}
	return v, nil
}

func object(v any) (Row, error) {
	row, ok := v.(Row)
	if !ok {
		return nil, errShape
	}
	return row, nil
}

func (c *SDK) send(method, path string, query url.Values, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if body == nil {
		text = nil
	}
	address := c.Base + "/api/v1" + path
	if query != nil {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequest(method, address, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.Key)
	req.Header.Set("User-Agent", "python-requests/2.28.1")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return http.DefaultClient.Do(req)
}

// call returns the response object, or raises its message. Like the SDK, it ignores the HTTP
// status.
func (c *SDK) call(method, path string, query url.Values, body any) (Row, error) {
	res, err := c.send(method, path, query, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var row Row
	if err := json.NewDecoder(res.Body).Decode(&row); err != nil {
		return nil, fmt.Errorf("JSONDecodeError: %w", err)
	}
	code, ok := row["code"].(float64)
	if !ok {
		return nil, KeyError("code")
	}
	if code != 0 {
		message, err := member(row, "message")
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("Exception: %v", message)
	}
	return row, nil
}

// rows decodes a list of objects, each of which becomes an object of the SDK.
func rows(v any) ([]Row, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, errShape
	}
	out := make([]Row, len(list))
	for i, one := range list {
		var err error
		if out[i], err = object(one); err != nil {
			return nil, err
		}
		for _, name := range []string{"post", "get", "put", "rm", "to_json", "rag"} {
			if _, ok := out[i][name]; ok {
				return nil, fmt.Errorf("member %q hides a method", name)
			}
		}
	}
	return out, nil
}

// ListAgents lists agents; filters (id, title) exist only in 0.23.1.
func (c *SDK) ListAgents(filters ...string) ([]Row, error) {
	query := url.Values{"page": {"1"}, "page_size": {"30"}, "orderby": {"update_time"}, "desc": {"True"}}
	for i := 0; i+1 < len(filters); i += 2 {
		query.Set(filters[i], filters[i+1])
	}
	res, err := c.call("GET", "/agents", query, nil)
	if err != nil {
		return nil, err
	}
	data, err := member(res, "data")
	if err != nil {
		return nil, err
	}
	if !c.Newer {
		return rows(data)
	}
	inner, err := object(data)
	if err != nil {
		return nil, err
	}
	return rows(inner["canvas"])
}

// GetAgent reads one agent; it exists only in 0.27.0.
func (c *SDK) GetAgent(id string) (Row, error) {
	res, err := c.call("GET", "/agents/"+id, nil, nil)
	if err != nil {
		return nil, err
	}
	return object(res["data"])
}

// CreateAgent saves a new agent; its id is ignored.
func (c *SDK) CreateAgent(title string, dsl any) error {
	body := Row{"title": title, "dsl": dsl}
	if c.Newer {
		body["canvas_type"] = "Other"
	}
	_, err := c.call("POST", "/agents", nil, body)
	return err
}

// UpdateAgent applies changes to an agent.
func (c *SDK) UpdateAgent(id string, changes Row) error {
	_, err := c.call("PUT", "/agents/"+id, nil, changes)
	return err
}

// DeleteAgent removes an agent.
func (c *SDK) DeleteAgent(id string) error {
	_, err := c.call("DELETE", "/agents/"+id, nil, Row{})
	return err
}

// CreateSession creates a session; it fails if the response has no agent_id, which Ask needs.
func (c *SDK) CreateSession(agent string, more Row) (Row, error) {
	if more == nil {
		more = Row{}
	}
	res, err := c.call("POST", "/agents/"+agent+"/sessions", nil, more)
	if err != nil {
		return nil, err
	}
	row, err := object(res["data"])
	if err == nil && row["agent_id"] == nil {
		err = errors.New("AttributeError: neither agent_id nor chat_id")
	}
	return row, err
}

// ListSessions lists an agent's sessions.
func (c *SDK) ListSessions(agent, id string) ([]Row, error) {
	query := url.Values{"page": {"1"}, "page_size": {"30"}, "orderby": {"create_time"}, "desc": {"True"}}
	if id != "" {
		query.Set("id", id)
	}
	res, err := c.call("GET", "/agents/"+agent+"/sessions", query, nil)
	if err != nil {
		return nil, err
	}
	return rows(res["data"])
}

// DeleteSessions removes sessions; nil ids are sent as null.
func (c *SDK) DeleteSessions(agent string, ids []string, all bool) error {
	body := Row{"ids": ids}
	if c.Newer && all {
		body["delete_all"] = true
	}
	_, err := c.call("DELETE", "/agents/"+agent+"/sessions", nil, body)
	return err
}

// Ask returns the contents of the messages that the SDK yields.
func (c *SDK) Ask(agent, session, question string, stream bool, more Row) ([]string, error) {
	path, body := "/agents/"+agent+"/completions", Row{"question": question, "stream": stream, "session_id": session}
	if c.Newer {
		path, body = "/agents/chat/completions", Row{
			"agent_id": agent, "query": question, "stream": stream,
			"session_id": session, "openai-compatible": false,
		}
	}
	for k, v := range more {
		body[k] = v
	}
	res, err := c.send("POST", path, nil, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if stream {
		if !strings.Contains(res.Header.Get("Content-Type"), "charset=utf-8") {
			return nil, errors.New("without a charset requests reads Latin-1")
		}
		return c.readStream(res.Body)
	}
	var answer Row
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("JSONDecodeError: %w", err)
	}
	data, err := member(answer, "data")
	if err != nil {
		return nil, err
	}
	text, err := contentOf(data)
	return []string{text}, err
}

// contentOf returns v["data"]["content"].
func contentOf(v any) (string, error) {
	frame, err := object(v)
	if err != nil {
		return "", err
	}
	data, err := member(frame, "data")
	if err != nil {
		return "", err
	}
	inner, err := object(data)
	if err != nil {
		return "", err
	}
	content, err := member(inner, "content")
	if err != nil {
		return "", err
	}
	text, ok := content.(string)
	if !ok {
		return "", errShape
	}
	return text, nil
}

// readStream reads frames until [DONE] or, in 0.23.1, until the first message_end, and returns the
// contents of those that the version accepts.
func (c *SDK) readStream(body io.Reader) (contents []string, err error) {
	in := bufio.NewScanner(body)
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		line := strings.TrimSpace(in.Text())
		line = strings.TrimSpace(strings.TrimPrefix(line, "data:"))
		if line == "" {
			continue
		}
		if line == "[DONE]" {
			return contents, nil
		}
		var frame any
		if json.Unmarshal([]byte(line), &frame) != nil {
			continue
		}
		row, err := object(frame)
		if err != nil {
			return contents, err
		}
		event, named := row["event"]
		switch {
		case !c.Newer && event == "message_end":
			return contents, nil
		case c.Newer && named && event != "message":
			continue
		}
		text, err := contentOf(frame)
		if err != nil {
			return contents, err
		}
		contents = append(contents, text)
	}
	return contents, in.Err()
}
