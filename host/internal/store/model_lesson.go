package store

import "context"

// ModelLesson describes a model as far as the answers of its server showed.
type ModelLesson struct {
	Tenant  string // whose provider it is; "" is the host
	Address string // base URL of the provider
	Model   string
	Doc     []byte // JSON, stored as is
	Until   int64  // when it is forgotten, in Unix milliseconds
}

// ModelLessons are the records of what hosts learned of models.
type ModelLessons struct{ *database }

const lessonColumns = `tenant_id, address, model, doc, until`

func scanLesson(r row) (l ModelLesson, err error) {
	err = r.Scan(&l.Tenant, &l.Address, &l.Model, &l.Doc, &l.Until)
	return l, err
}

// Get returns what was learned of a model; ok is false if nothing was or it is forgotten.
func (m ModelLessons) Get(ctx context.Context, tenant, address, model string) (l ModelLesson, ok bool, err error) {
	rows, err := queryAll(ctx, m.read, scanLesson, `SELECT `+lessonColumns+
		` FROM model_lessons WHERE tenant_id = $1 AND address = $2 AND model = $3 AND until > $4`,
		tenant, printable(address), printable(model), m.ms())
	if err != nil || len(rows) == 0 {
		return l, false, fail(err, "lesson of model %q", model)
	}
	return rows[0], true, nil
}

// List returns what was learned of the models of a tenant's providers, or with "" of those of the
// host, by address and model.
func (m ModelLessons) List(ctx context.Context, tenant string) ([]ModelLesson, error) {
	out, err := queryAll(ctx, m.read, scanLesson, `SELECT `+lessonColumns+
		` FROM model_lessons WHERE tenant_id = $1 AND until > $2 ORDER BY address, model`, tenant, m.ms())
	return out, fail(err, "lessons of tenant %q", tenant)
}

// Put stores what was learned of a model, and deletes what is forgotten by now.
func (m ModelLessons) Put(ctx context.Context, l ModelLesson) error {
	return m.write(ctx, "put model lesson", func(ctx context.Context, q querier) error {
		if _, err := q.ExecContext(ctx, `DELETE FROM model_lessons WHERE until <= $1`, m.ms()); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, `INSERT INTO model_lessons (`+lessonColumns+`) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tenant_id, address, model) DO UPDATE SET doc = excluded.doc, until = excluded.until`,
			l.Tenant, printable(l.Address), printable(l.Model), bytesOf(l.Doc), l.Until)
		return err
	})
}

// Delete deletes what was learned of a model, or with "" of all models at the address.
func (m ModelLessons) Delete(ctx context.Context, tenant, address, model string) error {
	_, err := m.exec(ctx, `DELETE FROM model_lessons WHERE tenant_id = $1 AND address = $2 AND ($3 = '' OR model = $3)`,
		tenant, printable(address), printable(model))
	return fail(err, "delete lessons of tenant %q", tenant)
}
