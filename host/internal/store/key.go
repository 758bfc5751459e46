package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Key is an API key as stored: only its hash is stored, and the key itself is returned once, by
// [Keys.Create].
type Key struct {
	ID         string
	Tenant     string
	User       string // the user that its requests act as
	Name       string
	Hint       string   // first characters of the key, to distinguish keys
	Scopes     []string // permissions; empty means none
	Rate       int64    // requests per minute; 0 means the default of the host
	CreateTime int64    // Unix milliseconds
	ExpireTime int64    // Unix milliseconds; 0 means never

	TokensPerDay int64 // model tokens per day (UTC); 0 means the default of the host

	Project *string       // the only project that it uses; nil means all of its user
	Groups  access.Groups // of the user; only [Keys.ByText] reads them
}

// Keys has the records of API keys.
type Keys struct{ *database }

const keyColumns = `id, tenant_id, user_id, name, hint, scopes, rate, create_time, expire_time, tokens_per_day,
	only_project, limited`

func scanKey(r row) (Key, error) {
	var k Key
	var scopes, project string
	var limited bool
	if err := r.Scan(&k.ID, &k.Tenant, &k.User, &k.Name, &k.Hint, &scopes, &k.Rate, &k.CreateTime, &k.ExpireTime,
		&k.TokensPerDay, &project, &limited); err != nil {
		return Key{}, err
	}
	if limited {
		k.Project = &project
	}
	return k, json.Unmarshal([]byte(scopes), &k.Scopes)
}

// hashToken needs neither salt nor a slow hash: tokens have 256 random bits.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Create adds a key and returns it with its text, which is not stored. A given text (a key from
// the environment) is used as is, and adding it again returns the stored key; an empty text is
// generated: "ragflow-" and 43 characters.
func (s Keys) Create(ctx context.Context, k Key, text string) (Key, string, error) {
	if text == "" {
		text = newToken("ragflow-")
	}
	if k.ID == "" {
		k.ID = NewID()
	}
	AuditObject(ctx, k.ID)
	k.CreateTime, k.Hint = s.ms(), printable(text[:min(len(text), 12)])
	if k.Scopes == nil {
		k.Scopes = []string{}
	}
	scopes, err := json.Marshal(k.Scopes)
	if err == nil {
		err = checkText("name", k.Name, "user", k.User)
	}
	if err == nil {
		err = checkQuota(k.TokensPerDay)
	}
	if err != nil {
		return Key{}, "", fail(err, "create key %q", k.Name)
	}
	const insert = `INSERT INTO keys (` + keyColumns + `, hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $12, $13, $11)
		ON CONFLICT (hash) DO UPDATE SET hint = excluded.hint RETURNING ` + keyColumns
	project := ""
	if k.Project != nil {
		project = *k.Project
	}
	var kept []Key
	err = s.write(ctx, fmt.Sprintf("create key %q", k.Name), func(ctx context.Context, q querier) (err error) {
		kept, err = queryAll(ctx, q, scanKey, insert, k.ID, k.Tenant, k.User, k.Name, k.Hint, string(scopes),
			k.Rate, k.CreateTime, k.ExpireTime, k.TokensPerDay, hashToken(text), project, flag(k.Project != nil))
		return err
	})
	if err != nil {
		return Key{}, "", err
	}
	return kept[0], text, nil
}

// ByText returns the key that a request presents. Errors: [ErrNotFound], also for an expired
// key.
func (s Keys) ByText(ctx context.Context, text string) (Key, error) {
	const query = `SELECT ` + keyColumns + ` FROM keys WHERE hash = $1`
	hash := hashToken(text)
	k, known, age := s.keys.get(hash)
	if !known {
		var err error
		if k, err = scanKey(s.read.QueryRowContext(ctx, query, hash)); err != nil {
			return Key{}, fail(err, "api key")
		}
		if k.Groups, err = Groups(s).Of(ctx, k.Tenant, k.User); err != nil {
			return Key{}, err
		}
		s.keys.put(hash, k, age)
	}
	if k.ExpireTime != 0 && k.ExpireTime <= s.ms() {
		return Key{}, fail(ErrNotFound, "api key")
	}
	return k, nil
}

// Get returns a key by its id or by its text, also an expired one. Errors: [ErrNotFound].
func (s Keys) Get(ctx context.Context, tenant, idOrText string) (Key, error) {
	const query = `SELECT ` + keyColumns + ` FROM keys WHERE tenant_id = $1 AND (id = $2 OR hash = $3)`
	k, err := scanKey(s.read.QueryRowContext(ctx, query, tenant, idOrText, hashToken(idOrText)))
	return k, fail(err, "key")
}

// List returns the keys of a tenant, newest first.
func (s Keys) List(ctx context.Context, tenant string) ([]Key, error) {
	const query = `SELECT ` + keyColumns + ` FROM keys WHERE tenant_id = $1 ORDER BY create_time DESC, id`
	out, err := queryAll(ctx, s.read, scanKey, query, tenant)
	return out, fail(err, "keys")
}

// Delete removes a key by its id or by its text. Errors: [ErrNotFound].
func (s Keys) Delete(ctx context.Context, tenant, idOrText string) error {
	return s.writeAlways(ctx, "delete key", func(ctx context.Context, q querier) error {
		gone, err := queryAll(ctx, q, scanName, `DELETE FROM keys WHERE tenant_id = $1 AND (id = $2 OR hash = $3)
			RETURNING id`, tenant, idOrText, hashToken(idOrText))
		if err == nil && len(gone) == 0 {
			err = ErrNotFound
		}
		for _, id := range gone {
			err = errors.Join(err, dropGrantsOf(ctx, q, tenant, KeySubject+id))
		}
		return err
	})
}
