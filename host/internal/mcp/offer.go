package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

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
	tools  []engine.Value
}

func (o *offer) get(ctx context.Context, session *sdk.ClientSession) ([]engine.Value, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if changed := o.changed.Swap(false); o.cached && !changed {
		return o.tools, nil
	}
	tools, err := listTools(ctx, session)
	o.tools, o.cached = tools, err == nil
	return tools, err
}

// listTools reads all pages of the tool list.
func listTools(ctx context.Context, session *sdk.ClientSession) (out []engine.Value, err error) {
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(tool)
		if err != nil {
			return nil, err
		}
		v, err := engine.ParseJSON(text)
		if err != nil {
			return nil, err
		}
		if out = append(out, v); len(out) > maxTools {
			return nil, errors.New("more than 1,000 tools")
		}
	}
	return out, nil
}
