package store

import "context"

// Secret returns the secret with which the site of a token signs user ids; it is made if there is
// none. Unlike the token it is not part of a page. Errors: [ErrNotFound] for an unknown token.
func (s Betas) Secret(ctx context.Context, tenant, id string) (string, error) {
	return s.signing(ctx, tenant, id, false)
}

// ReplaceSecret makes a new secret of a token, which ends all signatures with the old one. Errors:
// [ErrNotFound].
func (s Betas) ReplaceSecret(ctx context.Context, tenant, id string) (string, error) {
	return s.signing(ctx, tenant, id, true)
}

const signingOf = `SELECT signing FROM betas WHERE tenant_id = $1 AND id = $2`

func scanBytes(r row) ([]byte, error) {
	var b []byte
	err := r.Scan(&b)
	return b, err
}

// ReadSecret returns the secret of a token; "" if none was made. Errors: [ErrNotFound].
func (s Betas) ReadSecret(ctx context.Context, tenant, id string) (string, error) {
	sealed, err := scanBytes(s.read.QueryRowContext(ctx, signingOf, tenant, id))
	if err != nil || len(sealed) == 0 {
		return "", fail(err, "secret of beta token")
	}
	secret, err := s.seal.open(sealed, "beta secret", tenant, id)
	return string(secret), err
}

func (s Betas) signing(ctx context.Context, tenant, id string, replaces bool) (secret string, err error) {
	const update = `UPDATE betas SET signing = $3 WHERE tenant_id = $1 AND id = $2`
	err = s.write(ctx, "secret of beta token", func(ctx context.Context, q querier) error {
		found, err := queryAll(ctx, q, scanBytes, signingOf, tenant, id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return ErrNotFound
		}
		if len(found[0]) > 0 && !replaces {
			opened, err := s.seal.open(found[0], "beta secret", tenant, id)
			secret = string(opened)
			return err
		}
		secret = newToken("")
		sealed, err := s.seal.close([]byte(secret), "beta secret", tenant, id)
		if err != nil {
			return err
		}
		_, err = q.ExecContext(ctx, update, tenant, id, sealed)
		return err
	})
	return secret, err
}
