package ragflow

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// largestMemoryPage bounds the messages of a response.
const largestMemoryPage = 100

// messageRow is a message as lists have it, without its content.
func messageRow(v *app.MemoryMessage) *engine.ObjectBuilder {
	b := engine.NewObject(16)
	b.Set("message_id", engine.Int(v.ID)).Set("message_type", engine.String(v.Kind))
	b.Set("source_id", engine.Int(v.Source)).Set("memory_id", engine.String(v.Memory))
	b.Set("user_id", engine.String(v.User)).Set("agent_id", engine.String(v.Agent))
	b.Set("session_id", engine.String(v.Session)).Set("status", engine.Bool(!v.Disabled))
	if v.Visitor != "" {
		b.Set("user_verified", engine.Bool(v.Visitor.Verified()))
	}
	b.Set("valid_at", dateOf(v.ValidAt)).Set("invalid_at", dateOf(v.InvalidAt)).Set("forget_at", dateOf(v.ForgetAt))
	return b
}

// dateOf is a time as memories have it, null for none.
func dateOf(ms int64) engine.Value {
	if ms == 0 {
		return engine.Null
	}
	return engine.String(time.UnixMilli(ms).UTC().Format(time.DateTime))
}

func messageRows(list []app.MemoryMessage) engine.Value {
	rows := make([]engine.Value, len(list))
	for i := range list {
		rows[i] = messageRow(&list[i]).Set("content", engine.String(list[i].Content)).Value()
	}
	return engine.List(rows...)
}

// memoryLimit is a parameter that bounds the messages of an answer.
func memoryLimit(r *api.Request, name string, absent int) (int, error) {
	n, err := r.Query.Number(name, absent)
	if err == nil && n > largestMemoryPage {
		err = api.Failed(api.KindBadArgument, "page_size must be less than or equal to %d", largestMemoryPage)
	}
	return n, err
}

// messages lists the exchanges of a memory, each with what was extracted from it.
func (m memories) messages(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["memory"]
	p, err := r.Query.Page(50, "", true)
	if err != nil {
		return nil, err
	}
	if p.Limit == 0 || p.Limit > largestMemoryPage {
		return nil, api.Failed(api.KindBadArgument, "page_size must be less than or equal to %d", largestMemoryPage)
	}
	f := app.MemoryFilter{
		Memories: []string{id}, Agents: listed(r.Query, "agent_id"), Kind: app.MemoryRaw,
		Sessions: strings.TrimSpace(r.Query.Get("keywords")),
	}
	raw, total, err := m.Services.Memories.Messages(ctx, r.Who.Remembers(), f, p)
	if err != nil {
		return nil, memoryError(err, id)
	}
	rows, err := m.withExtracts(ctx, r, id, raw)
	if err != nil {
		return nil, err
	}
	list := engine.Object("message_list", rows, "total_count", total)
	return truth(engine.Object("messages", list, "storage_type", "table")), nil
}

func (m memories) withExtracts(
	ctx context.Context, r *api.Request, id string, raw []app.MemoryMessage,
) (engine.Value, error) {
	if len(raw) == 0 {
		return engine.List(), nil
	}
	first, last := raw[0].ID, raw[0].ID
	for i := range raw {
		first, last = min(first, raw[i].ID), max(last, raw[i].ID)
	}
	f := app.MemoryFilter{Memories: []string{id}, Sources: &[2]int64{first, last}}
	found, _, err := m.Services.Memories.Messages(ctx, r.Who.Remembers(), f, app.Page{})
	if err != nil {
		return engine.Null, err
	}
	extracts := map[int64][]engine.Value{}
	for i := range found {
		v := &found[i]
		extracts[v.Source] = append(extracts[v.Source], m.named(ctx, r, v).Value())
	}
	rows := make([]engine.Value, len(raw))
	for i := range raw {
		v := &raw[i]
		rows[i] = m.named(ctx, r, v).Set("extract", engine.List(extracts[v.ID]...)).Set("task", engine.Object()).Value()
	}
	return engine.List(rows...), nil
}

// named is a row with the title of its canvas.
func (m memories) named(ctx context.Context, r *api.Request, v *app.MemoryMessage) *engine.ObjectBuilder {
	title := "Unknown"
	if canvas, err := m.Services.Canvases.Get(ctx, r.Who, v.Agent); err == nil {
		title = canvas.Title
	}
	return messageRow(v).Set("agent_name", engine.String(title))
}

// add keeps an exchange. What a model has to extract is there when the answer comes.
func (m memories) add(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("memory_id", "agent_id", "session_id", "user_input", "agent_response"); err != nil {
		return nil, err
	}
	ids := []string{r.Body.Get("memory_id").Str()}
	if r.Body.Get("memory_id").Kind() != engine.KindString {
		ids = r.Body.Texts("memory_id")
	}
	e := app.MemoryExchange{
		User: r.Body.Text("user_id"), Agent: r.Body.Text("agent_id"), Session: r.Body.Text("session_id"),
		Input: r.Body.Text("user_input"), Response: r.Body.Text("agent_response"),
	}
	if r.Who.CSRF != "" {
		e.User = r.Who.User // a login may not write for other users
	}
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	err := m.Services.Memories.Add(ctx, r.Who.Remembers(), ids, e)
	if err == nil {
		return envelope.With(engine.String("All add to task."), engine.Null), nil
	}
	if errors.Is(err, app.ErrNoMemory) || errors.Is(err, app.ErrMemoryFull) || errors.Is(err, app.ErrMemoryModel) {
		return nil, withNull(api.KindFailed, "Some messages failed to add. Detail:%s", err)
	}
	return nil, err
}

func (m memories) recent(ctx context.Context, r *api.Request) (api.Response, error) {
	limit, err := memoryLimit(r, "limit", 10)
	if err != nil {
		return nil, err
	}
	ids := listed(r.Query, "memory_id")
	if len(ids) == 0 {
		return nil, api.Failed(api.KindBadArgument, "memory_ids is required.")
	}
	f := app.MemoryFilter{Memories: m.seen(ctx, r, ids), Session: r.Query.Get("session_id"), Live: true}
	if agent := r.Query.Get("agent_id"); agent != "" {
		f.Agents = []string{agent}
	}
	list, _, err := m.Services.Memories.Messages(ctx, r.Who.Remembers(), f, app.Page{Limit: max(1, limit)})
	if err != nil {
		return nil, err
	}
	return truth(messageRows(list)), nil
}

// seen leaves out memories that the principal does not have, as the original does in searches.
func (m memories) seen(ctx context.Context, r *api.Request, ids []string) []string {
	var out []string
	for _, id := range ids {
		if _, err := m.Services.Memories.Get(ctx, r.Who.Remembers(), id); err == nil {
			out = append(out, id)
		}
	}
	return out
}

func (m memories) search(ctx context.Context, r *api.Request) (api.Response, error) {
	top, err := memoryLimit(r, "top_n", 5)
	if err != nil {
		return nil, err
	}
	var empty []string
	for _, name := range []string{"memory_id", "query"} {
		if r.Query.Get(name) == "" {
			empty = append(empty, name)
		}
	}
	if len(empty) > 0 {
		return nil, api.Failed(api.KindBadArgument, "%s can't be empty.", strings.Join(empty, ", "))
	}
	threshold, err := share(r, "similarity_threshold", 0.2)
	if err != nil {
		return nil, err
	}
	weight, err := share(r, "keywords_similarity_weight", 0.7)
	if err != nil {
		return nil, err
	}
	hits, err := m.Services.Memories.Search(ctx, r.Who.Remembers(), app.MemoryQuery{
		Memories: m.seen(ctx, r, listed(r.Query, "memory_id")), Agent: r.Query.Get("agent_id"),
		Session: r.Query.Get("session_id"), User: r.Query.Get("user_id"), Text: r.Query.Get("query"),
		Threshold: threshold, WordWeight: weight, Limit: max(1, top),
	})
	if err != nil {
		return nil, memoryError(err, "")
	}
	list := make([]app.MemoryMessage, len(hits))
	for i := range hits {
		list[i] = hits[i].Message
	}
	return truth(messageRows(list)), nil
}

// share is a parameter between 0 and 1.
func share(r *api.Request, name string, absent float64) (float64, error) {
	text := r.Query.Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= 1) {
		return 0, api.Failed(api.KindBadArgument, "argument %s must be a number between 0 and 1, not %.40q", name, text)
	}
	return n, nil
}

// entry reads the path memory:message. A message that is not a number is 0, the id of none.
func entry(r *api.Request) (memory, text string, id int64) {
	memory, text, _ = strings.Cut(r.Params["entry"], ":")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		id = 0
	}
	return memory, text, id
}

func (m memories) forget(ctx context.Context, r *api.Request) (api.Response, error) {
	memory, text, id := entry(r)
	err := m.Services.Memories.Forget(ctx, r.Who.Remembers(), memory, id)
	if err != nil {
		return nil, messageError(err, memory, "Failed to forget message '%s' in memory '%s'.", text, memory)
	}
	return truth(engine.Null), nil
}

// messageError answers the error of a change of a message.
func messageError(err error, memory, format string, args ...any) error {
	if errors.Is(err, app.ErrNoMemory) {
		return memoryError(err, memory)
	}
	if errors.Is(err, app.ErrNotFound) {
		return withNull(api.KindFailed, format, args...)
	}
	return err
}

func (m memories) enable(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("status"); err != nil {
		return nil, err
	}
	status := r.Body.Get("status")
	if status.Kind() != engine.KindBool {
		return nil, api.Failed(api.KindBadArgument, "Status must be a boolean.")
	}
	memory, text, id := entry(r)
	err := m.Services.Memories.Enable(ctx, r.Who.Remembers(), memory, id, status.True())
	if err != nil {
		return nil, messageError(err, memory, "Failed to set status for message '%s' in memory '%s'.", text, memory)
	}
	return truth(engine.Null), nil
}

func (m memories) content(ctx context.Context, r *api.Request) (api.Response, error) {
	memory, text, id := entry(r)
	v, err := m.Services.Memories.Message(ctx, r.Who.Remembers(), memory, id)
	if errors.Is(err, app.ErrNotFound) {
		err = withNull(api.KindNoResource, "Message '%s' in memory '%s' not found.", text, memory)
	}
	if err != nil {
		return nil, memoryError(err, memory)
	}
	vector := make([]engine.Value, len(v.Vector))
	for i, x := range v.Vector {
		vector[i] = engine.Float(float64(x))
	}
	row := messageRow(&v).Set("content", engine.String(v.Content)).Set("content_embed", engine.List(vector...))
	return truth(row.Value()), nil
}
