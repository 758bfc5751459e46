package store

import (
	"context"
	"fmt"
	"slices"
)

// Belongings counts what a member has in a tenant.
type Belongings struct {
	Canvases, Datasets, Memories int // owned, private ones included
	Published                    int // canvases whose published version acts for the member
	Drafts                       int // canvases whose draft the member saved last
	Pipelines                    int // datasets whose pipeline the member chose
	Keys                         int
	EmbedTokens                  int // for all canvases of the member
	Schedules                    int // that read documents for the member
	Waits                        int // open forms and approvals of runs that the member began
}

// Heir gets what a member who is removed had. The zero value is for none.
type Heir struct {
	User string
	// Agrees lets what acted for the member act for the heir. Without it, what the member has
	// published could read what is private of an heir who has never seen it.
	Agrees bool
	// MayHave reports whether an heir who agrees gets a key; others are deleted.
	MayHave func(Key) bool
	// Token makes the token for all canvases one for those of an heir who agrees.
	Token bool
}

// ScheduleRecords reads and changes the documents of schedules, whose form another package knows.
type ScheduleRecords struct {
	Kind string
	// Reads returns the member for whom the runs of a schedule read documents.
	Reads func(doc []byte) (user string, err error)
	// HandOver returns the document for another member.
	HandOver func(doc []byte, to string) ([]byte, error)
}

// ownedBy are the tables of objects with the column of their owner.
var ownedBy = map[string]string{
	"canvases": "user_id", "deleted_canvases": "user_id", "datasets": "created_by", "memories": "user_id",
}

// revised increases the revision of records whose edits write over the one that they have read.
var revised = map[string]string{"canvases": ", rev = rev + 1", "memories": ", rev = rev + 1"}

// Belongings counts what a member has.
func (s Members) Belongings(
	ctx context.Context, tenant, user string, schedules ScheduleRecords,
) (b Belongings, err error) {
	const query = `SELECT
		(SELECT COUNT(*) FROM canvases WHERE tenant_id = $1 AND user_id = $2),
		(SELECT COUNT(*) FROM datasets WHERE tenant_id = $1 AND created_by = $2),
		(SELECT COUNT(*) FROM memories WHERE tenant_id = $1 AND user_id = $2),
		(SELECT COUNT(*) FROM canvases WHERE tenant_id = $1 AND published <> '' AND publisher = $2),
		(SELECT COUNT(*) FROM canvases WHERE tenant_id = $1 AND author = $2),
		(SELECT COUNT(*) FROM keys WHERE tenant_id = $1 AND user_id = $2),
		(SELECT COUNT(*) FROM betas WHERE tenant_id = $1 AND user_id = $2),
		(SELECT COUNT(*) FROM waits WHERE tenant_id = $1 AND state = '` + WaitOpen + `' AND runner = $2)`
	err = s.read.QueryRowContext(ctx, query, tenant, user).Scan(&b.Canvases, &b.Datasets, &b.Memories, &b.Published,
		&b.Drafts, &b.Keys, &b.EmbedTokens, &b.Waits)
	if err != nil {
		return b, fail(err, "belongings of %q", user)
	}
	piped, err := pipedBy(ctx, s.read, tenant, user)
	if err != nil {
		return b, fail(err, "belongings of %q", user)
	}
	b.Pipelines = len(piped)
	items, err := Items(s).List(ctx, tenant, schedules.Kind)
	for _, v := range items {
		of, err := schedules.Reads(v.Doc)
		if err != nil {
			return b, err
		}
		if of == user {
			b.Schedules++
		}
	}
	return b, err
}

// pipedBy returns the datasets of a tenant whose pipeline a member chose.
func pipedBy(ctx context.Context, q querier, tenant, user string) ([]Dataset, error) {
	const query = `SELECT ` + datasetColumns + ` FROM datasets WHERE tenant_id = $1`
	all, err := queryAll(ctx, q, scanDataset, query, tenant)
	return slices.DeleteFunc(all, func(v Dataset) bool { return v.Pipeline == "" || v.PipelineBy != user }), err
}

// handOver makes an heir of the tenant the owner of a member's objects. If the heir agrees, what
// acted for the member acts for the heir: keys (with their roles) as far as wanted, the token for
// all canvases unless the heir has one, published versions, drafts, pipelines and schedules.
// Errors: [ErrNoHeir].
func (s Members) handOver(ctx context.Context, q querier, m Member, to Heir, schedules ScheduleRecords) error {
	is, err := exists(ctx, q, `SELECT 1 FROM members WHERE tenant_id = $1 AND user_id = $2`, m.Tenant, to.User)
	if err != nil {
		return err
	}
	if !is || to.User == m.User {
		return ErrNoHeir
	}
	var texts []string
	for table, owner := range ownedBy {
		texts = append(texts, `UPDATE `+table+` SET `+owner+` = $3`+revised[table]+`
			WHERE tenant_id = $1 AND `+owner+` = $2`)
	}
	if to.Agrees {
		if err := deleteKeys(ctx, q, m, func(key Key) bool { return !to.MayHave(key) }); err != nil {
			return err
		}
		texts = append(texts, `UPDATE keys SET user_id = $3 WHERE tenant_id = $1 AND user_id = $2`,
			`UPDATE canvases SET publisher = $3, rev = rev + 1 WHERE tenant_id = $1 AND publisher = $2`,
			`UPDATE canvases SET author = $3, rev = rev + 1 WHERE tenant_id = $1 AND author = $2`)
	}
	if to.Agrees && to.Token {
		texts = append(texts, `UPDATE betas SET user_id = $3 WHERE tenant_id = $1 AND user_id = $2 AND NOT EXISTS
			(SELECT 1 FROM betas own WHERE own.tenant_id = $1 AND own.user_id = $3)`)
	}
	for _, text := range texts {
		if _, err := q.ExecContext(ctx, text, m.Tenant, m.User, to.User); err != nil {
			return err
		}
	}
	if !to.Agrees {
		return nil
	}
	if err := handOverPipelines(ctx, q, m, to.User); err != nil {
		return err
	}
	return s.handOverSchedules(ctx, q, m, to.User, schedules)
}

func handOverPipelines(ctx context.Context, q querier, m Member, to string) error {
	piped, err := pipedBy(ctx, q, m.Tenant, m.User)
	if err != nil {
		return err
	}
	for _, v := range piped {
		if err := lockDataset(ctx, q, m.Tenant, v.ID); err != nil {
			return err
		}
		const query = `SELECT ` + datasetColumns + ` FROM datasets WHERE id = $1`
		if v, err = scanDataset(q.QueryRowContext(ctx, query, v.ID)); err != nil {
			return err
		}
		v.PipelineBy = to
		body, err := v.body()
		if err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, `UPDATE datasets SET body = $1 WHERE id = $2`, body, v.ID); err != nil {
			return err
		}
	}
	return nil
}

func (s Members) handOverSchedules(ctx context.Context, q querier, m Member, to string, r ScheduleRecords) error {
	const query = `SELECT ` + itemColumns + ` FROM items WHERE tenant_id = $1 AND kind = $2`
	items, err := queryAll(ctx, q, Items(s).scan, query, m.Tenant, r.Kind)
	if err != nil {
		return err
	}
	for _, v := range items {
		of, err := r.Reads(v.Doc)
		if err != nil {
			return err
		}
		if of != m.User {
			continue
		}
		doc, err := r.HandOver(v.Doc, to)
		if err != nil {
			return fmt.Errorf("schedule %q: %w", v.ID, err)
		}
		const update = `UPDATE items SET doc = $1, rev = rev + 1, update_time = $2 WHERE tenant_id = $3 AND kind = $4
			AND id = $5 AND rev = $6`
		res, err := q.ExecContext(ctx, update, bytesOf(doc), s.ms(), m.Tenant, r.Kind, v.ID, v.Rev)
		if err := changed(res, err, ErrConflict); err != nil {
			return err
		}
	}
	return nil
}
