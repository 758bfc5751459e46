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

// mostTools bounds what is read of a server that lists without end.
const mostTools = 1000

// offer is what a server has said about its tools on one connection.
type offer struct {
	changed atomic.Bool // the server has said so since it was asked

	mu    sync.Mutex // held while it is asked: several agents of a run wait for one answer
	known bool
	tools []engine.Value
}

func (o *offer) get(ctx context.Context, session *sdk.ClientSession) ([]engine.Value, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if changed := o.changed.Swap(false); o.known && !changed {
		return o.tools, nil
	}
	tools, err := listTools(ctx, session)
	o.tools, o.known = tools, err == nil
	return tools, err
}

// listTools reads all pages of a server's list.
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
		if out = append(out, v); len(out) > mostTools {
			return nil, errors.New("more than 1,000 tools")
		}
	}
	return out, nil
}
