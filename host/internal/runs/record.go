package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Kinds of records in addition to the engine's event types.
const (
	// KindDocument is the first record: the canvas that is run, as JSON.
	KindDocument = "document"
	// KindOptions follows the document of a run with outputs that replace those of nodes, or with a
	// node at which it stops: {"pins", "until"}.
	KindOptions = "options"
	// KindTakeover marks the takeover by another host: {"attempt": n}.
	KindTakeover = "takeover"
	// KindEnd is the last record: {"status", "code", "error"}.
	KindEnd = "end"
)

// End is the outcome of a run.
type End struct {
	Status string // one of the store's run states
	Code   string // stable word for the kind of error, if any
	Error  string // for people
}

func (e End) record() runlog.Record {
	v := engine.Object("status", e.Status, "code", e.Code, "error", e.Error)
	return runlog.Record{Kind: KindEnd, Data: v.AppendJSON(nil), Known: e}
}

// EndOf reads a [KindEnd] record, without parsing that of a run of this host.
func EndOf(r runlog.Record) End {
	if e, ok := r.Known.(End); ok {
		return e
	}
	v, err := engine.ParseJSON(r.Data)
	if err != nil {
		return End{Status: store.RunFailed, Error: "the end of the run cannot be read"}
	}
	return End{Status: v.Get("status").Str(), Code: v.Get("code").Str(), Error: v.Get("error").Str()}
}

// Visible reports whether a record is for clients: an event, or how the run
// ended. The rest is for hosts.
func Visible(kind string) bool {
	switch engine.EventType(kind) {
	case engine.EventResult, engine.EventCheckpoint, engine.EventSnapshot, engine.EventExchange, engine.EventPart:
		return false
	}
	return kind != KindDocument && kind != KindOptions
}

// mostKnown is the size of an event up to which its facts stay in memory with it.
const mostKnown = 64 << 10

// recordOf makes a record of an engine event; it copies what the engine uses again.
func recordOf(e *engine.Event) runlog.Record {
	r := runlog.Record{Kind: string(e.Type), Data: e.JSON}
	if !e.Own {
		r.Data = append([]byte(nil), e.JSON...)
	}
	if e.Facts != nil {
		r.Known = e.Facts
	}
	return r
}

// Facts returns the facts of an event, from its JSON unless this host wrote it.
func Facts(r runlog.Record) engine.Facts {
	if f, ok := r.Known.(*engine.Facts); ok {
		return *f
	}
	return engine.ReadFacts(engine.EventType(r.Kind), r.Data)
}

// Execution names the execution that a record is about, among those that run at once: the node, and
// the element of a body that runs for several.
func Execution(r runlog.Record) string {
	node := Facts(r).Node
	if !bytes.Contains(r.Data, []byte(`"index_path":`)) {
		return node
	}
	v, err := engine.ParseJSON(r.Data)
	if path := v.Get("data").Get("index_path"); err == nil && !path.IsNull() {
		return node + " " + path.JSON()
	}
	return node
}

// event makes an engine event of a record.
func event(r runlog.Record) *engine.Event {
	return &engine.Event{Seq: r.Seq, Type: engine.EventType(r.Kind), JSON: r.Data}
}

// events are the engine's entries among records.
func events(records []runlog.Record) []*engine.Event {
	var out []*engine.Event
	for _, r := range records {
		switch r.Kind {
		case KindDocument, KindOptions, KindTakeover, KindEnd:
		default:
			out = append(out, event(r))
		}
	}
	return out
}

// reader reads the records of runs.
type reader struct{ log *runlog.Log }

// Follow calls fn for the records of a run after a position, see [runlog.Log.Follow].
//
// Errors: [ErrGone] when the run's records are no longer kept.
func (r *reader) Follow(ctx context.Context, run string, after runlog.Pos, fn func(runlog.Record) bool) error {
	err := r.log.Follow(ctx, run, after, fn)
	if errors.Is(err, broker.ErrGone) {
		return fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return err
}

// Place finds where a reader continues, see [runlog.Log.Place].
//
// Errors: [ErrGone] when the run's records are no longer kept.
func (r *reader) Place(ctx context.Context, run string, seen runlog.Pos, attempt uint64) (runlog.Place, error) {
	p, err := r.log.Place(ctx, run, seen, attempt)
	if errors.Is(err, broker.ErrGone) {
		err = fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return p, err
}

// Kept reports whether any record of a run that has ended can still be read. A
// log that has forgotten the end, and whose readers would wait for it, gets it
// again.
func (r *reader) Kept(ctx context.Context, row store.Run) (bool, error) {
	pos, ended, err := r.log.Ended(ctx, row.ID)
	if err != nil || ended || pos.Seq == 0 {
		return pos.Seq != 0, err
	}
	data, err := json.Marshal(
		&Job{ID: row.ID, Message: row.Message, Tenant: row.Tenant, Canvas: row.Canvas, User: row.User, Source: row.Source},
	)
	if err != nil {
		return false, err
	}
	// Most often its host is about to write the end, and this is dropped.
	return true, r.log.Submit(ctx, runlog.Run{ID: row.ID, Data: data})
}

// Records reads what is stored of a run now, without waiting for more.
func (r *reader) Records(ctx context.Context, run string) ([]runlog.Record, error) {
	records, err := r.log.Records(ctx, run)
	if errors.Is(err, broker.ErrGone) {
		err = fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return records, err
}
