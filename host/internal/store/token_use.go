package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// MostTokens bounds quotas and daily counts. Sums of two still fit an int64, and JSON parsers
// represent the number exactly.
const MostTokens = 1_000_000_000_000_000

// TokenUse is the number of model tokens used on one day.
type TokenUse struct {
	Tenant string
	Caller string // unit of counting, see [Key.Caller]; "" is the tenant with all its callers
	Day    int64  // days since 1970-01-01, UTC
	Tokens int64
}

// TokenState is the quota and the use of a caller on a day.
type TokenState struct {
	Quota int64 // tokens per day; 0 means unlimited
	Used  int64
}

// Tokens has the counts of used model tokens.
type Tokens struct{ *database }

// callerOfKey is the prefix of callers that are keys.
const callerOfKey = "key "

// Caller returns the name under which the tokens of the key are counted.
func (k Key) Caller() string { return callerOfKey + k.ID }

func checkQuota(tokens int64) error {
	if tokens < 0 || tokens > MostTokens {
		return fmt.Errorf("tokens per day must be between 0 and %d: %w", int64(MostTokens), ErrInvalid)
	}
	return nil
}

// SetLimits changes the limits of a key; nil leaves a limit unchanged. Errors: [ErrNotFound],
// [ErrInvalid].
func (s Keys) SetLimits(ctx context.Context, tenant, id string, rate, tokensPerDay *int64) (Key, error) {
	if tokensPerDay != nil {
		if err := checkQuota(*tokensPerDay); err != nil {
			return Key{}, fail(err, "limits of key %q", id)
		}
	}
	const update = `UPDATE keys SET rate = COALESCE($1, rate), tokens_per_day = COALESCE($2, tokens_per_day)
		WHERE tenant_id = $3 AND id = $4 RETURNING ` + keyColumns
	return changeOne(
		ctx, s.database, fmt.Sprintf("limits of key %q", id), scanKey, update, rate, tokensPerDay, tenant, id,
	)
}

// SetTokens changes the daily quota of model tokens of a tenant; 0 means unlimited. Errors:
// [ErrNotFound], [ErrInvalid].
func (s Tenants) SetTokens(ctx context.Context, id string, tokensPerDay int64) (Tenant, error) {
	if err := checkQuota(tokensPerDay); err != nil {
		return Tenant{}, fail(err, "quota of tenant %q", id)
	}
	const update = `UPDATE tenants SET tokens_per_day = $1, update_time = $2 WHERE id = $3 RETURNING ` + tenantColumns
	return changeOne(
		ctx, s.database, fmt.Sprintf("quota of tenant %q", id), scanTenant, update, tokensPerDay, s.ms(), id,
	)
}

// changeOne runs an UPDATE ... RETURNING of one row.
func changeOne[T any](
	ctx context.Context, s *database, what string, scan func(row) (T, error), update string, args ...any,
) (out T, err error) {
	err = s.write(ctx, what, func(ctx context.Context, q querier) error {
		rows, err := queryAll(ctx, q, scan, update, args...)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return ErrNotFound
		}
		out = rows[0]
		return nil
	})
	return out, err
}

// Add adds used tokens and returns the new totals of all hosts in the same order. Totals
// saturate at [MostTokens].
func (s Tokens) Add(ctx context.Context, uses []TokenUse) (totals []int64, err error) {
	// Hosts that write the same rows in the same order cannot deadlock.
	order := make([]int, len(uses))
	for i, u := range uses {
		if order[i] = i; u.Tokens < 0 || u.Tokens > MostTokens {
			return nil, fail(ErrInvalid, "add %d tokens", u.Tokens)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := uses[i], uses[j]
		return cmp.Or(strings.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Day, b.Day), strings.Compare(a.Caller, b.Caller))
	})
	const upsert = `INSERT INTO token_use (tenant_id, caller, day, tokens) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant_id, day, caller) DO UPDATE SET tokens =
			CASE WHEN token_use.tokens > $5 - excluded.tokens THEN $5 ELSE token_use.tokens + excluded.tokens END
		RETURNING tokens`
	totals = make([]int64, len(uses))
	err = s.write(ctx, "add tokens", func(ctx context.Context, q querier) error {
		for _, i := range order {
			u := uses[i]
			if err := q.QueryRowContext(ctx, upsert, u.Tenant, u.Caller, u.Day, u.Tokens, int64(MostTokens)).Scan(&totals[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return totals, err
}

// State returns the quota of a caller and its use on a day; the caller "" is the tenant. The
// quota of a caller that has none or does not exist is 0.
func (s Tokens) State(ctx context.Context, tenant, caller string, day int64) (TokenState, error) {
	const used = `COALESCE((SELECT tokens FROM token_use WHERE tenant_id = $1 AND day = $2 AND caller = $3), 0)`
	query, args := `SELECT 0, `+used, []any{tenant, day, caller}
	if key, ok := strings.CutPrefix(caller, callerOfKey); ok {
		query = `SELECT COALESCE((SELECT tokens_per_day FROM keys WHERE tenant_id = $1 AND id = $4), 0), ` + used
		args = append(args, key)
	} else if caller == "" {
		query = `SELECT COALESCE((SELECT tokens_per_day FROM tenants WHERE id = $1), 0), ` + used
	}
	var t TokenState
	err := s.read.QueryRowContext(ctx, query, args...).Scan(&t.Quota, &t.Used)
	return t, fail(err, "tokens of tenant %q", tenant)
}

// ByCaller returns the tokens used by each caller of a tenant on a day.
func (s Tokens) ByCaller(ctx context.Context, tenant string, day int64) (map[string]int64, error) {
	return s.sum(ctx, `SELECT caller, tokens FROM token_use WHERE tenant_id = $1 AND day = $2`, tenant, day)
}

// ByTenant returns the tokens used by each tenant on a day.
func (s Tokens) ByTenant(ctx context.Context, day int64) (map[string]int64, error) {
	return s.sum(ctx, `SELECT tenant_id, tokens FROM token_use WHERE caller = '' AND day = $1`, day)
}

func (s Tokens) sum(ctx context.Context, query string, args ...any) (map[string]int64, error) {
	out := map[string]int64{}
	_, err := queryAll(ctx, s.read, func(r row) (struct{}, error) {
		var name string
		var n int64
		err := r.Scan(&name, &n)
		out[name] = n
		return struct{}{}, err
	}, query, args...)
	return out, fail(err, "used tokens")
}

// Forget deletes counts from before a day.
func (s Tokens) Forget(ctx context.Context, day int64) error {
	_, err := s.exec(ctx, `DELETE FROM token_use WHERE day < $1`, day)
	return fail(err, "forget used tokens")
}
