package v2

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// audit is the log of who changed what.
type audit struct{ *app.Services }

const (
	auditPage   = 100
	auditExport = 10_000
)

func (a audit) operations() []operation {
	const admin = app.ScopeAdmin
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/audit", body: api.BodyNone, scope: admin, name: "listAudit",
			about: "List who changed what in the tenant, and who signed in, newest first, 100 entries at most. " +
				"Entries are kept for 400 days.",
		}, a.list),
		handle(operation{
			method: "GET", path: "/api/v2/audit/export", body: api.BodyNone, scope: admin, name: "exportAudit",
			audit: true, media: "application/x-ndjson",
			about: "Export entries of the audit log as lines of JSON, or with format=csv as a table, newest first, " +
				"10,000 at most; before continues.",
		}, a.export),
		handle(operation{
			method: "GET", path: "/api/v2/audit/check", body: api.BodyNone, scope: admin, name: "checkAudit",
			about: "Check that no entry of the audit log was changed or removed: each is chained to the one before, " +
				"and the end is sealed with the key file of the host.",
		}, a.check),
	}
}

type auditQuery struct {
	Who    app.Principal
	User   string `query:"user" jsonschema:"only acts of this user"`
	Action string `query:"action" jsonschema:"only this action, such as publishCanvas or signInFailed"`
	Object string `query:"object" jsonschema:"only acts on this object"`
	From   string `query:"from" jsonschema:"only entries from this time, RFC 3339"`
	To     string `query:"to" jsonschema:"only entries until this time, RFC 3339"`
	Before string `query:"before" jsonschema:"only entries with a lower number, for the next page"`
}

type auditView struct {
	Number  int64     `json:"number"`
	Time    time.Time `json:"time"`
	User    string    `json:"user" jsonschema:"id of who acted; empty for a failed sign-in"`
	Caller  string    `json:"caller" jsonschema:"the key or login, or how a sign-in was tried"`
	Action  string    `json:"action" jsonschema:"operationId of this API, or method and path of another dialect"`
	Object  string    `json:"object" jsonschema:"ids of what was changed"`
	Address string    `json:"address" jsonschema:"of the client"`
	Hash    string    `json:"hash" jsonschema:"SHA-256 of the entry and of the hash before, hex"`
}

func (q auditQuery) filter(limit int) (app.AuditFilter, error) {
	f := app.AuditFilter{Tenant: q.Who.Tenant, User: q.User, Action: q.Action, Object: q.Object, Limit: limit}
	for _, one := range []struct {
		name, text string
		to         *int64
	}{{"from", q.From, &f.From}, {"to", q.To, &f.To}} {
		if one.text == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, one.text)
		if err != nil {
			return f, badQuery("argument %s must be a time such as 2026-11-28T12:00:00Z, not %.40q", one.name, one.text)
		}
		*one.to = t.UnixMilli()
	}
	if q.Before != "" {
		n, err := strconv.ParseInt(q.Before, 10, 64)
		if err != nil || n < 1 {
			return f, badQuery("argument before must be the number of an entry, not %.40q", q.Before)
		}
		f.Before = n
	}
	return f, nil
}

func (a audit) entries(ctx context.Context, q auditQuery, limit int) ([]auditView, error) {
	f, err := q.filter(limit)
	if err != nil {
		return nil, err
	}
	list, err := a.Audit.List(ctx, f)
	out := make([]auditView, len(list))
	for i, e := range list {
		out[i] = auditView{
			e.Seq, timeOf(e.Time), e.User, e.Caller, e.Action, e.Object, e.Address, hex.EncodeToString(e.Hash),
		}
	}
	return out, err
}

func (a audit) list(ctx context.Context, q auditQuery) (list[auditView], error) {
	items, err := a.entries(ctx, q, auditPage)
	return list[auditView]{Items: items}, err
}

type exportAudit struct {
	auditQuery
	Format string `query:"format" jsonschema:"jsonl (default) or csv"`
}

func (a audit) export(ctx context.Context, q exportAudit) (api.Response, error) {
	if q.Format != "" && q.Format != "jsonl" && q.Format != "csv" {
		return nil, badQuery("format must be jsonl or csv, not %.40q", q.Format)
	}
	items, err := a.entries(ctx, q.auditQuery, auditExport)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if q.Format == "csv" {
		err := auditTable(&text, items)
		return api.Raw(http.StatusOK, "text/csv; charset=utf-8", text.Bytes()), err
	}
	lines := json.NewEncoder(&text)
	for _, e := range items {
		if err := lines.Encode(e); err != nil {
			return nil, err
		}
	}
	return api.Raw(http.StatusOK, "application/x-ndjson", text.Bytes()), nil
}

// auditTable writes entries as CSV. Spreadsheets run a cell that begins like a formula, and ids in
// paths are texts of clients: an apostrophe makes a text of it.
func auditTable(to io.Writer, items []auditView) error {
	w := csv.NewWriter(to)
	rows := [][]string{{"number", "time", "user", "caller", "action", "object", "address", "hash"}}
	for _, e := range items {
		rows = append(rows, []string{
			strconv.FormatInt(e.Number, 10), e.Time.UTC().Format(time.RFC3339Nano), e.User, e.Caller, e.Action,
			e.Object, e.Address, e.Hash,
		})
	}
	for _, row := range rows {
		for i, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				row[i] = "'" + cell
			}
		}
	}
	return w.WriteAll(rows)
}

type auditCheckView struct {
	Intact  bool   `json:"intact"`
	Entries int64  `json:"entries" jsonschema:"entries that were checked"`
	Broken  int64  `json:"broken,omitempty" jsonschema:"number of the first entry that was changed or is missing"`
	Hash    string `json:"hash" jsonschema:"of the last entry, hex; note it elsewhere as a proof"`
}

func (a audit) check(ctx context.Context, in byTenant) (auditCheckView, error) {
	c, err := a.Audit.Check(ctx, in.Who.Tenant)
	return auditCheckView{c.Broken == 0 && err == nil, c.Entries, c.Broken, hex.EncodeToString(c.Hash)}, err
}
