package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// SessionTurn has the additions of a run to a session. It is appended and never changes.
type SessionTurn struct {
	Messages  []byte // JSON array of what was said in it
	Reference []byte // JSON; empty for {}
	Find      string // text to search, normally that of the messages; folded when stored

	// What the run added to the state, as JSON, see [NewSessionTurn].
	history, retrieval, memory []byte
}

// emptyReference is the entry of a run without passages in the lists of references.
const emptyReference = `{"chunks":{},"doc_aggs":{}}`

// PlanOf returns the hash of a document for [Session.Plan].
func PlanOf(dsl []byte) string {
	sum := sha256.Sum256(dsl)
	return hex.EncodeToString(sum[:])
}

// NewSessionTurn returns a turn in which messages were said and which added to the state. A text
// that is a message and an entry of the history is stored once.
func NewSessionTurn(messages []engine.Value, reference engine.Value, find string, added engine.Added) *SessionTurn {
	t := &SessionTurn{Messages: engine.List(messages...).AppendJSON(nil), Find: find}
	if reference.Len() > 0 {
		t.Reference = reference.AppendJSON(nil)
	}
	entries := make([]engine.Value, len(added.History))
	for i, x := range added.History {
		entries[i] = x
		if i < len(messages) {
			entries[i] = elided(x, messages[i])
		}
	}
	t.history = engine.List(entries...).AppendJSON(nil)
	references := engine.List(added.Retrieval...).AppendJSON(nil)
	if string(references) != "["+emptyReference+"]" {
		t.retrieval = references
	}
	if len(added.Memory) > 0 {
		t.memory = engine.List(added.Memory...).AppendJSON(nil)
	}
	return t
}

// elided returns an entry [role, content] of a history without the text of a message: [role] if
// that is its content, [role, rest, position] if it is the member content of an object.
func elided(entry, message engine.Value) engine.Value {
	role, content, text := entry.At(0), entry.At(1), message.Get("content")
	if role.Str() != message.Get("role").Str() {
		return entry
	}
	if engine.Equal(content, text) {
		return engine.List(role)
	}
	rest, at := engine.NewObject(content.Len()), -1
	for i := range content.Len() {
		if content.Key(i) == "content" && engine.Equal(content.At(i), text) {
			at = i
		} else {
			rest.Set(content.Key(i), content.At(i))
		}
	}
	if content.Kind() != engine.KindObject || at < 0 {
		return entry
	}
	return engine.List(role, rest.Value(), engine.Int(int64(at)))
}

// filled is the reverse of elided.
func filled(entry, message engine.Value) engine.Value {
	role, rest, text := entry.At(0), entry.At(1), message.Get("content")
	switch entry.Len() {
	case 1:
		return engine.List(role, text)
	case 3:
		at, _ := entry.At(2).Int()
		content := engine.NewObject(rest.Len() + 1)
		for i := range rest.Len() + 1 {
			if i == int(at) {
				content.Set("content", text)
			}
			if i < rest.Len() {
				content.Set(rest.Key(i), rest.At(i))
			}
		}
		return engine.List(role, content.Value())
	}
	return entry
}

// Add adds what the turn added to the state to that of the turns before it.
func (t *SessionTurn) Add(to *engine.Added) error {
	var lists [4]engine.Value
	for i, text := range [...][]byte{t.Messages, t.history, t.retrieval, t.memory} {
		if len(text) == 0 {
			continue
		}
		var err error
		if lists[i], err = engine.ParseJSON(text); err != nil {
			return fmt.Errorf("turn of a session: %w: %w", ErrCorrupt, err)
		}
	}
	for i := range lists[1].Len() {
		to.History = append(to.History, filled(lists[1].At(i), lists[0].At(i)))
	}
	if len(t.retrieval) == 0 {
		to.Retrieval = append(to.Retrieval, engine.Object("chunks", engine.Object(), "doc_aggs", engine.Object()))
	}
	for i := range lists[2].Len() {
		to.Retrieval = append(to.Retrieval, lists[2].At(i))
	}
	for i := range lists[3].Len() {
		to.Memory = append(to.Memory, lists[3].At(i))
	}
	return nil
}

const turnColumns = `messages, reference, find, history, retrieval, memory`

func scanTurn(r row) (t SessionTurn, err error) {
	return t, r.Scan(&t.Messages, &t.Reference, &t.Find, &t.history, &t.retrieval, &t.memory)
}

func insertTurn(ctx context.Context, q querier, v *Session, number int64) error {
	const insert = `INSERT INTO session_turns (session_id, number, tenant_id, ` + turnColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	t := v.Added
	_, err := q.ExecContext(ctx, insert, v.ID, number, v.Tenant, bytesOf(t.Messages), bytesOf(t.Reference),
		fold(t.Find), bytesOf(t.history), bytesOf(t.retrieval), bytesOf(t.memory))
	return err
}

// LastTurns returns the last turns of a session, oldest first, at most a number of them.
func (s Sessions) LastTurns(ctx context.Context, id string, most int) ([]SessionTurn, error) {
	const query = `SELECT ` + turnColumns + ` FROM session_turns WHERE session_id = $1 ORDER BY number DESC LIMIT $2`
	out, err := queryAll(ctx, s.read, scanTurn, query, id, most)
	slices.Reverse(out)
	return out, fail(err, "turns of session %q", id)
}

// LastMemories returns the last turns of a session that added a summary to its memory, oldest
// first, at most a number of them.
func (s Sessions) LastMemories(ctx context.Context, id string, most int) ([]SessionTurn, error) {
	const query = `SELECT ` + turnColumns + ` FROM session_turns WHERE session_id = $1 AND LENGTH(memory) > 0
		ORDER BY number DESC LIMIT $2`
	out, err := queryAll(ctx, s.read, scanTurn, query, id, most)
	slices.Reverse(out)
	return out, fail(err, "memories of session %q", id)
}

// Document returns the document with which a session began. Errors: [ErrNotFound].
func (s Sessions) Document(ctx context.Context, tenant, id string) (dsl []byte, err error) {
	const query = `SELECT dsl FROM session_documents WHERE session_id = $1 AND tenant_id = $2`
	err = s.read.QueryRowContext(ctx, query, id, tenant).Scan(&dsl)
	return dsl, fail(err, "document of session %q", id)
}

// Messages returns the messages of a session after a number of turns, those of at most a number of
// turns, and how many turns follow these. Turn 0 has the messages before the first stored turn:
// the greeting.
//
// Errors: [ErrNotFound].
func (s Sessions) Messages(ctx context.Context, tenant, id string, after, most int64) ([][]byte, int64, error) {
	v, err := s.Head(ctx, tenant, id)
	if err != nil {
		return nil, 0, err
	}
	const query = `SELECT messages FROM (
		SELECT messages, 0 AS number FROM session_documents WHERE session_id = $1 UNION ALL
		SELECT messages, number FROM session_turns WHERE session_id = $1) AS said
		WHERE number > $2 AND number <= $3 ORDER BY number`
	last := v.Turns
	if most < last-after {
		last = after + most
	}
	list, err := queryAll(ctx, s.read, func(r row) (text []byte, err error) { return text, r.Scan(&text) },
		query, id, after, last)
	return list, v.Turns - last, fail(err, "messages of session %q", id)
}

// sessionsAtOnce bounds the sessions whose documents one query reads.
const sessionsAtOnce = 500

// documentBytes returns the size of the documents that readDocuments would read.
func (s Sessions) documentBytes(ctx context.Context, list []Session, chosen DocumentChoice) (bytes int64, err error) {
	if chosen == NoDocuments {
		return 0, nil
	}
	document, turn := `LENGTH(messages) + LENGTH(reference)`, `LENGTH(messages) + LENGTH(reference)`
	if chosen == AllDocuments {
		document, turn = document+` + LENGTH(dsl)`, turn+` + LENGTH(history) + LENGTH(retrieval) + LENGTH(memory)`
		for i := range list {
			bytes += int64(len(list[i].State))
		}
	}
	for part := range slices.Chunk(list, sessionsAtOnce) {
		in, args := inSessions(part)
		for _, query := range []string{
			`SELECT CAST(COALESCE(SUM(` + document + `), 0) AS BIGINT) FROM session_documents` + in,
			`SELECT CAST(COALESCE(SUM(` + turn + `), 0) AS BIGINT) FROM session_turns` + in,
		} {
			var n int64
			if err := s.read.QueryRowContext(ctx, query, args...).Scan(&n); err != nil {
				return 0, err
			}
			bytes += n
		}
	}
	return bytes, nil
}

// inSessions returns the condition for rows of sessions.
func inSessions(list []Session) (cond string, args []any) {
	marks := make([]string, len(list))
	for i := range list {
		marks[i], args = fmt.Sprintf("$%d", i+1), append(args, list[i].ID)
	}
	return ` WHERE session_id IN (` + strings.Join(marks, ", ") + `)`, args
}

// readDocuments fills in the documents of sessions, with all turns.
func (s Sessions) readDocuments(ctx context.Context, list []Session, chosen DocumentChoice) error {
	if chosen == NoDocuments {
		for i := range list {
			list[i].State = nil
		}
		return nil
	}
	for part := range slices.Chunk(list, sessionsAtOnce) {
		if err := s.readPart(ctx, part, chosen); err != nil {
			return err
		}
	}
	return nil
}

// readPart is readDocuments for a few sessions.
func (s Sessions) readPart(ctx context.Context, part []Session, chosen DocumentChoice) error {
	at := map[string]*Session{}
	for i := range part {
		at[part[i].ID] = &part[i]
	}
	dsl := `dsl`
	if chosen == WithoutDSL {
		dsl = `''`
	}
	in, args := inSessions(part)
	_, err := queryAll(ctx, s.read, func(r row) (none struct{}, err error) {
		var v Session
		err = r.Scan(&v.ID, &v.DSL, &v.Messages, &v.Reference)
		if to := at[v.ID]; to != nil {
			to.DSL, to.Messages, to.Reference = v.DSL, v.Messages, v.Reference
		}
		return none, err
	}, `SELECT session_id, `+dsl+`, messages, reference FROM session_documents`+in, args...)
	if err != nil {
		return err
	}
	turns := map[string][]SessionTurn{}
	_, err = queryAll(ctx, s.read, func(r row) (none struct{}, err error) {
		var id string
		var t SessionTurn
		err = r.Scan(&id, &t.Messages, &t.Reference, &t.Find, &t.history, &t.retrieval, &t.memory)
		turns[id] = append(turns[id], t)
		return none, err
	}, `SELECT session_id, `+turnColumns+` FROM session_turns`+in+` ORDER BY session_id, number`, args...)
	if err != nil {
		return err
	}
	for id, v := range at {
		if err := v.join(turns[id], chosen); err != nil {
			return fmt.Errorf("session %q: %w", id, err)
		}
	}
	return nil
}

// join adds turns to the documents with which a session began.
func (v *Session) join(turns []SessionTurn, chosen DocumentChoice) error {
	turns = turns[:min(int64(len(turns)), v.Turns)] // one may have been added since v was read
	messages, references := [][]byte{v.Messages}, [][]byte{v.Reference}
	var added engine.Added
	for i := range turns {
		t := &turns[i]
		messages = append(messages, t.Messages)
		switch {
		case len(t.Messages) <= len("[]"): // it only adds to the state
		case len(t.Reference) == 0:
			references = append(references, []byte("[{}]"))
		default:
			references = append(references, slices.Concat([]byte("["), t.Reference, []byte("]")))
		}
		if chosen == AllDocuments {
			if err := t.Add(&added); err != nil {
				return err
			}
		}
	}
	if len(turns) > 0 {
		v.Messages, v.Reference = spliced(messages), spliced(references)
	}
	if chosen != AllDocuments || len(v.State) == 0 {
		return nil
	}
	document, err := engine.ParseJSON(v.DSL)
	if err != nil {
		return fmt.Errorf("%w: document: %w", ErrCorrupt, err)
	}
	head, err := engine.ParseJSON(v.State)
	if err != nil {
		return fmt.Errorf("%w: state: %w", ErrCorrupt, err)
	}
	v.DSL = engine.Joined(document, head, added).AppendJSON(nil)
	return nil
}

// spliced returns one JSON array with the elements of all; what is no array has none.
func spliced(lists [][]byte) []byte {
	out := []byte{'['}
	for _, l := range lists {
		l = bytes.TrimSpace(l)
		if len(l) < 2 || l[0] != '[' {
			continue
		}
		if l = bytes.TrimSpace(l[1 : len(l)-1]); len(l) == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, l...)
	}
	return append(out, ']')
}

// said adds that something said in a session contains a text.
func (w *where) said(text string) {
	if text == "" {
		return
	}
	w.changing = true
	like := "%" + quoted(fold(text)) + "%"
	w.add(`EXISTS (SELECT 1 FROM session_turns t WHERE t.session_id = sessions.id AND t.find LIKE ? ESCAPE '!')`, like)
}
