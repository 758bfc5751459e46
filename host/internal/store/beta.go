package store

import (
	"context"
	"errors"
)

// Beta is the token of a page that embeds a canvas. Unlike a key it can be displayed again, so it
// is sealed and not only hashed.
type Beta struct {
	ID         string
	Tenant     string
	Canvas     string // the canvas it grants access to; "" grants those that User may use
	User       string // member whose token for all canvases it is; "" for the token of a canvas
	Text       string // 32 characters, for the owner to copy
	CreateTime int64  // Unix milliseconds
}

// Betas has the tokens of pages that embed canvases.
type Betas struct{ *database }

type sealedBeta struct {
	Beta
	sealed []byte
}

const betaColumns = `id, tenant_id, canvas_id, user_id, sealed, create_time`

func scanBeta(r row) (sealedBeta, error) {
	var b sealedBeta
	err := r.Scan(&b.ID, &b.Tenant, &b.Canvas, &b.User, &b.sealed, &b.CreateTime)
	return b, err
}

// For returns the token of a canvas. It creates the token if needed. Errors: [ErrNotFound]
// for a canvas of another tenant.
func (s Betas) For(ctx context.Context, tenant, canvas string) (Beta, error) {
	if _, err := Canvases(s).Revision(ctx, tenant, canvas); err != nil {
		return Beta{}, err
	}
	return s.get(ctx, Beta{Tenant: tenant, Canvas: canvas})
}

// ForAll returns the token for all canvases that a member of the tenant may use. It creates the
// token if needed. Errors: [ErrInvalid].
func (s Betas) ForAll(ctx context.Context, tenant, user string) (Beta, error) {
	if err := checkText("user", user); err != nil {
		return Beta{}, fail(err, "beta token")
	}
	return s.get(ctx, Beta{Tenant: tenant, User: user})
}

// get returns the oldest token like v, or makes it.
func (s Betas) get(ctx context.Context, v Beta) (out Beta, err error) {
	const query = `SELECT ` + betaColumns + ` FROM betas WHERE tenant_id = $1 AND canvas_id = $2 AND user_id = $3
		ORDER BY create_time, id LIMIT 1`
	const insert = `INSERT INTO betas (` + betaColumns + `, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	read := func(ctx context.Context, q querier) error {
		found, err := queryAll(ctx, q, scanBeta, query, v.Tenant, v.Canvas, v.User)
		if err != nil || len(found) == 0 {
			return orNone(err)
		}
		out, err = s.open(found[0])
		return err
	}
	// A full disk refuses writes, also those that would find a token.
	if err := read(ctx, s.read); !errors.Is(err, ErrNotFound) {
		return out, fail(err, "beta token")
	}
	err = s.write(ctx, "beta token", func(ctx context.Context, q querier) error {
		if err := read(ctx, q); !errors.Is(err, ErrNotFound) {
			return err
		}
		out = v
		out.ID, out.Text, out.CreateTime = NewID(), newToken("")[:32], s.ms()
		sealed, err := s.seal.close([]byte(out.Text), "beta", out.Tenant, out.ID)
		if err != nil {
			return err
		}
		_, err = q.ExecContext(ctx, insert, out.ID, out.Tenant, out.Canvas, out.User, sealed, out.CreateTime,
			hashToken(out.Text))
		return err
	})
	return out, err
}

func (s Betas) open(b sealedBeta) (Beta, error) {
	text, err := s.seal.open(b.sealed, "beta", b.Tenant, b.ID)
	b.Text = string(text)
	return b.Beta, err
}

// ByText returns the token that a page presents, without Text. Errors: [ErrNotFound].
func (s Betas) ByText(ctx context.Context, text string) (Beta, error) {
	const query = `SELECT ` + betaColumns + ` FROM betas WHERE hash = $1`
	b, err := scanBeta(s.read.QueryRowContext(ctx, query, hashToken(text)))
	return b.Beta, fail(err, "beta token")
}

// Delete removes the token of a canvas; [Betas.For] then creates a new one. Errors:
// [ErrNotFound].
func (s Betas) Delete(ctx context.Context, tenant, canvas string) error {
	return s.writeAlways(ctx, "delete beta token", func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, `DELETE FROM betas WHERE tenant_id = $1 AND canvas_id = $2`, tenant, canvas)
		return changed(res, err, ErrNotFound)
	})
}
