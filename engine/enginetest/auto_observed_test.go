package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// outside is a model and a search whose answers depend on the request, with the durations of a
// timing.
type outside struct {
	timing
	fails map[string]bool // nodes whose answers break off

	mu    sync.Mutex
	asked map[string][]string // requests by node
}

// Generate answers with a or b, by the request.
func (o *outside) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	request := req.System
	for _, m := range req.Messages {
		request += "|" + m.Role + ":" + m.Content
	}
	o.mu.Lock()
	o.asked[req.Node] = append(o.asked[req.Node], request)
	o.mu.Unlock()
	n := hashOf(req.Node + request)
	pieces := [...]string{"an", "<think>hm</think>", "swer ", string(rune('a' + n%2)), fmt.Sprintf(" [ID:%d]", n%100)}
	return func(yield func(engine.ModelPiece, error) bool) {
		for i, piece := range pieces {
			err := engine.SystemClock{}.Sleep(ctx, o.of(req.Node)/3)
			if err == nil && i == 3 && o.fails[req.Node] {
				err = errors.New("broke off")
			}
			if err != nil {
				yield(engine.ModelPiece{}, err)
				return
			}
			if !yield(engine.ModelPiece{Text: piece}, nil) {
				return
			}
		}
	}
}

// Retrieve finds one passage, whose id is the name of the dataset.
func (o *outside) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	name := q.Datasets[0]
	if err := (engine.SystemClock{}).Sleep(ctx, o.of(name)); err != nil {
		return engine.Found{}, err
	}
	passage := engine.Object("chunk_id", name, "content", fmt.Sprint(hashOf(q.Text)%1000), "docnm_kwd", name)
	return engine.Found{Chunks: []engine.Value{passage}}, nil
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}

// seen has the observations of clients and servers in two turns of a canvas, and the final state.
type seen struct {
	shown  string // messages with their passages, forms, answers, and requests of tools in their order
	asked  string // requests to models, by node
	state  string
	failed bool
}

// observe runs a canvas with a query and then with another one, and answers its forms.
func observe(t *testing.T, dsl []byte, fails map[string]bool, query string, x timing, order engine.Scheduling) seen {
	t.Helper()
	var s seen
	reg := registry2(t, registry(t))
	synctest.Test(t, func(t *testing.T) {
		o := &outside{timing: x, fails: fails, asked: map[string][]string{}}
		opt := engine.Options{
			Ports:  engine.Ports{Model: o, Clock: o, IDs: &enginetest.IDs{}, Retriever: o},
			TaskID: "task", Seed: 1, MaxSteps: 60, Scheduling: order,
		}
		in := engine.Input{
			Query: engine.String(query), UserID: "one,two",
			Inputs: engine.Object("items", engine.Strings("a", "b"), "f", engine.Object("value", "filled"),
				"approval:StringTransform:Y", engine.Object("value", engine.ApprovalYes)),
		}
		canvas, err := engine.Load(reg, dsl)
		require.NoError(t, err)
		state := canvas.State()
		for turn, ended := 0, 0; turn < 8 && ended < 2; turn++ {
			for e, err := range canvas.Run(t.Context(), state, in, opt) {
				s.failed = s.failed || err != nil
				s.shown += observed(e, err)
			}
			if !state.Paused() {
				ended++
			}
			in.Query = engine.String(fmt.Sprint("b", turn))
			canvas, err = engine.Load(reg, canvas.Save(state))
			require.NoError(t, err)
			state = canvas.State()
		}
		doc, err := engine.ParseJSON(canvas.Save(state))
		require.NoError(t, err)
		s.state = leftBy(doc) + doc.Get("path").JSON() + doc.Get("history").JSON() + doc.Get("retrieval").JSON()
		for _, node := range slices.Sorted(maps.Keys(o.asked)) {
			s.asked += node + ": " + strings.Join(o.asked[node], "\n") + "\n"
		}
	})
	return s
}

// observed returns what a client sees of an event, and the names of tools that start.
func observed(e *engine.Event, err error) string {
	if err != nil {
		return "error " + err.Error() + "\n"
	}
	switch data := e.Data(); e.Type {
	case engine.EventMessage:
		return data.Get("content").Text()
	case engine.EventMessageEnd:
		return "\nend " + data.Get("reference").JSON() + "\n"
	case engine.EventUserInputs:
		return "form " + data.Get("inputs").JSON() + data.Get("tips").Text() + "\n"
	case engine.EventWorkflowFinished:
		return "answer " + data.Get("outputs").JSON() + "\n"
	case engine.EventNodeStarted:
		if strings.HasPrefix(e.Node, "EchoTool") {
			return "request of " + e.Node + "\n"
		}
	}
	return ""
}
