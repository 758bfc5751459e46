package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// AuditKept bounds the age of entries of the audit log.
const AuditKept = 400 * 24 * time.Hour

// auditPrune is the number of entries of a tenant after which expired ones are deleted.
const auditPrune = 64

// AuditEntry is an act of somebody in a tenant.
type AuditEntry struct {
	Tenant  string `json:"tenant"`
	Seq     int64  `json:"seq"`
	Time    int64  `json:"time"` // Unix milliseconds
	User    string `json:"user"`
	Caller  string `json:"caller"` // the key or login, or how a sign-in was tried
	Action  string `json:"action"`
	Object  string `json:"object"`
	Address string `json:"address"` // of the client
	Hash    []byte `json:"-"`
}

// chained returns the hash of an entry after another hash.
func (e AuditEntry) chained(before []byte) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append(bytes.Clone(before), text...))
	return sum[:], nil
}

// auditHead is the end of the chain of a tenant, and where what is left of it begins.
type auditHead struct {
	Seq, First   int64 // First is the number of the last expired entry
	Hash, Before []byte
}

// Audit has the audit logs of tenants.
type Audit struct{ *database }

// pendingAudit is an entry that the next commit writes.
type pendingAudit struct {
	mu    sync.Mutex
	entry AuditEntry
	done  bool
}

type auditKey struct{}

// WithAudit returns a context whose first committed write also writes an entry, in the same
// transaction.
func WithAudit(ctx context.Context, e AuditEntry) context.Context {
	return context.WithValue(ctx, auditKey{}, &pendingAudit{entry: e})
}

// AuditObject names the object of the entry of a context, unless it has one.
func AuditObject(ctx context.Context, object string) {
	if p, ok := ctx.Value(auditKey{}).(*pendingAudit); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.entry.Object == "" {
			p.entry.Object = object
		}
	}
}

// take returns the entry if it is to be written.
func (p *pendingAudit) take() (AuditEntry, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entry, !p.done
}

func (p *pendingAudit) written() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
}

// audited adds the entry of a context to a write; written is to be called after the commit.
func (s *database) audited(
	ctx context.Context, op func(context.Context, querier) error,
) (with func(context.Context, querier) error, written func()) {
	p, ok := ctx.Value(auditKey{}).(*pendingAudit)
	if !ok {
		return op, func() {}
	}
	if _, open := p.take(); !open {
		return op, func() {}
	}
	return func(ctx context.Context, q querier) error {
		if err := op(ctx, q); err != nil {
			return err
		}
		e, open := p.take()
		if !open {
			return nil
		}
		return s.appendAudit(ctx, q, e)
	}, p.written
}

// errUnchanged rolls a transaction back that has changed nothing, so that an act that is refused
// for that leaves no entry; see [orUnchanged].
var errUnchanged = errors.New("nothing changed")

// orUnchanged returns the error of a write, nil for [errUnchanged].
func orUnchanged(err error) error {
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// FinishAudit writes the entry of a context that no write has written.
func (s Audit) FinishAudit(ctx context.Context) error {
	p, ok := ctx.Value(auditKey{}).(*pendingAudit)
	if !ok {
		return nil
	}
	if _, open := p.take(); !open {
		return nil
	}
	return s.writeAlways(ctx, "audit", func(context.Context, querier) error { return nil })
}

// appendAudit adds an entry to the chain of its tenant. It locks the row of the head, as the last
// one of a transaction.
func (s *database) appendAudit(ctx context.Context, q querier, e AuditEntry) error {
	head, err := s.lockAuditHead(ctx, q, e.Tenant)
	if err != nil {
		return err
	}
	e.Seq, e.Time = head.Seq+1, s.ms()
	for _, text := range []*string{&e.User, &e.Caller, &e.Action, &e.Object, &e.Address} {
		*text = printable(*text)
	}
	if e.Hash, err = e.chained(head.Hash); err != nil {
		return err
	}
	const insert = `INSERT INTO audit (` + auditColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	_, err = q.ExecContext(
		ctx, insert, e.Tenant, e.Seq, e.Time, e.User, e.Caller, e.Action, e.Object, e.Address, e.Hash,
	)
	if err != nil {
		return err
	}
	head.Seq, head.Hash = e.Seq, e.Hash
	if e.Seq%auditPrune == 0 {
		if err := pruneAudit(ctx, q, e.Tenant, e.Time-AuditKept.Milliseconds(), &head); err != nil {
			return err
		}
	}
	return s.setAuditHead(ctx, q, e.Tenant, head)
}

func (s *database) lockAuditHead(ctx context.Context, q querier, tenant string) (head auditHead, err error) {
	const lock = `INSERT INTO audit_heads (tenant_id, sealed) VALUES ($1, '')
		ON CONFLICT (tenant_id) DO UPDATE SET tenant_id = excluded.tenant_id RETURNING sealed`
	var sealed []byte
	if err := q.QueryRowContext(ctx, lock, tenant).Scan(&sealed); err != nil {
		return head, err
	}
	return s.openAuditHead(tenant, sealed)
}

func (s *database) openAuditHead(tenant string, sealed []byte) (head auditHead, err error) {
	if len(sealed) == 0 {
		return head, nil
	}
	text, err := s.seal.open(sealed, "audit", tenant)
	if err != nil {
		return head, fmt.Errorf("end of the audit log: %w", err)
	}
	return head, json.Unmarshal(text, &head)
}

func (s *database) setAuditHead(ctx context.Context, q querier, tenant string, head auditHead) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	sealed, err := s.seal.close(text, "audit", tenant)
	if err != nil {
		return err
	}
	_, err = q.ExecContext(ctx, `UPDATE audit_heads SET sealed = $1 WHERE tenant_id = $2`, sealed, tenant)
	return err
}

// pruneAudit deletes the entries before a time, up to the first that is not, and stores where the
// rest begins: a clock that was wrong once must not take the entries before with it.
func pruneAudit(ctx context.Context, q querier, tenant string, before int64, head *auditHead) error {
	const last = `SELECT ` + auditColumns + ` FROM audit WHERE tenant_id = $1 AND time < $2 AND seq <
		(SELECT MIN(seq) FROM audit WHERE tenant_id = $1 AND time >= $2) ORDER BY seq DESC LIMIT 1`
	expired, err := queryAll(ctx, q, scanAudit, last, tenant, before)
	if err != nil || len(expired) == 0 {
		return err
	}
	head.First, head.Before = expired[0].Seq, expired[0].Hash
	_, err = q.ExecContext(ctx, `DELETE FROM audit WHERE tenant_id = $1 AND seq <= $2`, tenant, head.First)
	return err
}

const auditColumns = `tenant_id, seq, time, user_id, caller, action, object, address, hash`

func scanAudit(r row) (AuditEntry, error) {
	var e AuditEntry
	err := r.Scan(&e.Tenant, &e.Seq, &e.Time, &e.User, &e.Caller, &e.Action, &e.Object, &e.Address, &e.Hash)
	return e, err
}

// AuditFilter selects entries of a tenant; zero values select all.
type AuditFilter struct {
	Tenant               string
	User, Action, Object string
	From, To             int64 // Unix milliseconds
	Before               int64 // only entries with a lower number
	Limit                int
}

// List returns entries, newest first.
func (s Audit) List(ctx context.Context, f AuditFilter) ([]AuditEntry, error) {
	w := &where{}
	w.add("tenant_id = ?", f.Tenant)
	w.equal("user_id", f.User)
	w.equal("action", f.Action)
	w.equal("object", f.Object)
	w.between("time", f.From, f.To)
	if f.Before > 0 {
		w.add("seq < ?", f.Before)
	}
	query := fmt.Sprintf(`SELECT %s FROM audit%s ORDER BY seq DESC LIMIT %d`, auditColumns, w, f.Limit)
	out, err := queryAll(ctx, s.read, scanAudit, query, w.args...)
	return out, fail(err, "audit")
}

// AuditCheck is the result of a check of a chain.
type AuditCheck struct {
	Entries int64
	// Broken is the number of the first entry that was changed, or is missing; 0 means none.
	Broken int64
	Hash   []byte // of the last entry
}

// Check compares the entries of a tenant with their chain, and its end with the sealed one.
func (s Audit) Check(ctx context.Context, tenant string) (AuditCheck, error) {
	var out AuditCheck
	const ends = `SELECT sealed FROM audit_heads WHERE tenant_id = $1`
	sealed, err := queryAll(ctx, s.read, func(r row) (b []byte, err error) { return b, r.Scan(&b) }, ends, tenant)
	if err != nil {
		return out, fail(err, "audit")
	}
	var head auditHead
	if len(sealed) > 0 {
		if head, err = s.openAuditHead(tenant, sealed[0]); err != nil {
			return out, fail(err, "audit")
		}
	}
	const next = `SELECT ` + auditColumns + ` FROM audit WHERE tenant_id = $1 AND seq > $2 ORDER BY seq LIMIT 1000`
	seq := head.First
	out.Hash = head.Before
	for {
		list, err := queryAll(ctx, s.read, scanAudit, next, tenant, seq)
		if err != nil {
			return out, fail(err, "audit")
		}
		for _, e := range list {
			if e.Seq > head.Seq {
				if len(sealed) == 0 {
					out.Broken = e.Seq
				}
				return out, nil // written since the end was read
			}
			hash, err := e.chained(out.Hash)
			if err != nil {
				return out, err
			}
			if e.Seq != seq+1 || !bytes.Equal(hash, e.Hash) || e.Seq == head.Seq && !bytes.Equal(hash, head.Hash) {
				out.Broken = seq + 1
				return out, nil
			}
			seq, out.Hash = e.Seq, hash
			out.Entries++
		}
		if len(list) == 0 {
			break
		}
	}
	if seq < head.Seq {
		out.Broken = seq + 1
	}
	return out, nil
}
