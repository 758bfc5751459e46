package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/easel-canvas/easel/engine"
)

// maxTools bounds the length of a tool list.
const maxTools = 1000

// offer caches the tools of a server on one connection.
type offer struct {
	changed atomic.Bool // the server reported a change since the last list

	mu     sync.Mutex // held while listing, so that concurrent agents of a run share one request
	cached bool
	until  time.Time // when the list expires; zero for never
	tools  []engine.Value
}

// get returns the tools. ttl is the time to live of a list that was requested now; 0 for a cached
// one and where the server sets none.
func (o *offer) get(ctx context.Context, session *sdk.ClientSession) (
	tools []engine.Value, ttl time.Duration, err error,
) {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed := o.changed.Swap(false)
	if o.cached && !changed && (o.until.IsZero() || time.Now().Before(o.until)) {
		return o.tools, 0, nil
	}
	o.tools, ttl, err = listTools(ctx, session)
	o.cached, o.until = err == nil, time.Time{}
	if ttl > 0 {
		o.until = time.Now().Add(ttl)
	}
	return o.tools, ttl, err
}

// listTools reads all pages of the tool list. ttl is the shortest time to live of a page; 0 where
// the server sets none.
func listTools(ctx context.Context, session *sdk.ClientSession) (
	out []engine.Value, ttl time.Duration, err error,
) {
	params := &sdk.ListToolsParams{}
	for first := true; first || params.Cursor != ""; first = false {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, 0, err
		}
		for _, tool := range page.Tools {
			v, err := toolValue(tool)
			if err != nil {
				return nil, 0, err
			}
			if out = append(out, v); len(out) > maxTools {
				return nil, 0, errors.New("more than 1,000 tools")
			}
		}
		if live := time.Duration(page.TTLMs) * time.Millisecond; first || live < ttl {
			ttl = live
		}
		if page.NextCursor != "" && page.NextCursor == params.Cursor {
			return nil, 0, errors.New("the tool list never ends")
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	if !stateless(session) {
		ttl = 0 // changes are not reported to all runs
	}
	return out, min(max(ttl, 0), maxTTL), nil
}

// statelessProtocol is the first version without sessions; its lists have a time to live, and its
// servers report changes to subscribers.
const statelessProtocol = "2026-07-28"

func stateless(session *sdk.ClientSession) bool {
	res := session.InitializeResult()
	return res != nil && res.ProtocolVersion >= statelessProtocol
}

// toolValue converts a tool to {name, description, inputSchema, annotations, ...}.
func toolValue(tool *sdk.Tool) (engine.Value, error) {
	text, err := json.Marshal(tool)
	if err != nil {
		return engine.Null, err
	}
	return engine.ParseJSON(text)
}

const (
	// maxTTL bounds the time that a tool list is used without a request to the server.
	maxTTL = time.Hour
	// maxLists bounds the number of cached tool lists.
	maxLists = 256
)

// lists caches tool lists for their time to live.
type lists struct {
	mu    sync.Mutex
	all   map[string]timedList
	drops uint64 // reported changes of all servers
}

type timedList struct {
	tools []engine.Value
	until time.Time
}

// get returns a cached list. drops is for the put of one that is requested now.
func (c *lists) get(key string) (tools []engine.Value, drops uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, ok := c.all[key]
	return list.tools, c.drops, ok && time.Now().Before(list.until)
}

// put caches a list, unless a change was reported since it was requested: it may be older.
func (c *lists) put(key string, tools []engine.Value, ttl time.Duration, drops uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if drops != c.drops {
		return
	}
	now := time.Now()
	for k, list := range c.all {
		if len(c.all) >= maxLists || now.After(list.until) {
			delete(c.all, k)
		}
	}
	if c.all == nil {
		c.all = map[string]timedList{}
	}
	c.all[key] = timedList{tools, now.Add(ttl)}
}

func (c *lists) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops++
	delete(c.all, key)
}
