package store

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
)

func TestKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		now := time.Now()
		s.now = func() time.Time { return now }
		k, text, err := s.Keys.Create(
			ctx, Key{Tenant: "t", Name: "first", Scopes: []string{"run"}, ExpireTime: s.ms() + 1000}, "",
		)
		require.NoError(t, err)
		require.Len(t, text, len("ragflow-")+43)
		require.Equal(t, text[:12], k.Hint)
		got, err := s.Keys.ByText(ctx, text)
		require.NoError(t, err)
		require.Equal(t, k, got)
		_, err = s.Keys.ByText(ctx, text+"x")
		require.ErrorIs(t, err, ErrNotFound)

		same, _, err := s.Keys.Create(ctx, Key{Tenant: "t", Name: "again"}, text)
		require.NoError(t, err)
		require.Equal(t, k.ID, same.ID, "a key of the environment is added once")

		now = now.Add(time.Minute)
		_, err = s.Keys.ByText(ctx, text)
		require.ErrorIs(t, err, ErrNotFound, "an expired key is rejected")
		require.ErrorIs(t, s.Keys.Delete(ctx, "t2", text), ErrNotFound)
		require.NoError(t, s.Keys.Delete(ctx, "t", text))
		list, err := s.Keys.List(ctx, "t")
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

func TestBetas(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		c, err := s.Canvases.Create(ctx, Canvas{Tenant: "t"}, "")
		require.NoError(t, err)
		b, err := s.Betas.For(ctx, "t", c.ID)
		require.NoError(t, err)
		require.Len(t, b.Text, 32)
		again, err := s.Betas.For(ctx, "t", c.ID)
		require.NoError(t, err)
		require.Equal(t, b, again, "the token can be displayed again")
		_, err = s.Betas.For(ctx, "t2", c.ID)
		require.ErrorIs(t, err, ErrNotFound)
		got, err := s.Betas.ByText(ctx, b.Text)
		require.NoError(t, err)
		require.Equal(t, c.ID, got.Canvas)
		require.NoError(t, s.Betas.Delete(ctx, "t", c.ID))
		_, err = s.Betas.ByText(ctx, b.Text)
		require.ErrorIs(t, err, ErrNotFound)
	})
}

func TestUsers(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		u, err := s.Users.Create(ctx, User{Email: "Ann@Example.org"}, "sésame")
		require.NoError(t, err)
		_, err = s.Users.Create(ctx, User{Email: "ann@example.ORG"}, "x")
		require.ErrorIs(t, err, ErrExists)
		got, err := s.Users.ByPassword(ctx, "ann@example.org", "sésame")
		require.NoError(t, err)
		require.Equal(t, u, got)
		for _, try := range [][2]string{{"ann@example.org", "sesame"}, {"ann@example.org", ""}, {"bob@example.org", "sésame"}, {"bob@example.org", ""}} {
			_, err = s.Users.ByPassword(ctx, try[0], try[1])
			require.ErrorIs(t, err, ErrNotFound, "%q", try)
		}

		login, cookie, err := s.Logins.Create(ctx, u.ID, time.Hour, Origin{})
		require.NoError(t, err)
		found, err := s.Logins.ByText(ctx, cookie)
		require.NoError(t, err)
		require.Equal(t, login, found)
		require.NoError(t, s.Users.SetPassword(ctx, u.ID, "new"))
		_, err = s.Logins.ByText(ctx, cookie)
		require.ErrorIs(t, err, ErrNotFound, "a new password ends logins")
		_, err = s.Users.ByPassword(ctx, "ann@example.org", "new")
		require.NoError(t, err)
		_, short, err := s.Logins.Create(ctx, u.ID, -time.Second, Origin{})
		require.NoError(t, err)
		_, err = s.Logins.ByText(ctx, short)
		require.ErrorIs(t, err, ErrNotFound)
		require.NoError(t, s.Logins.Delete(ctx, short))
	})
}

func TestTenants(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		made, err := s.Tenants.Put(ctx, Tenant{Name: "one"})
		require.NoError(t, err)
		_, err = s.Tenants.Put(ctx, Tenant{ID: made.ID, Name: "two"})
		require.NoError(t, err)
		got, err := s.Tenants.Get(ctx, made.ID)
		require.NoError(t, err)
		require.Equal(t, "two", got.Name)
		require.NoError(t, s.Members.Put(ctx, Member{made.ID, "u", "owner"}))
		require.NoError(t, s.Members.Put(ctx, Member{made.ID, "u", "normal"}))
		of, err := s.Members.OfUser(ctx, "u")
		require.NoError(t, err)
		require.Equal(t, []Member{{made.ID, "u", "normal"}}, of)
		in, err := s.Members.List(ctx, made.ID)
		require.NoError(t, err)
		require.Equal(t, of, in)
		require.NoError(t, s.Members.Delete(ctx, made.ID, "u"))
		require.ErrorIs(t, s.Members.Delete(ctx, made.ID, "u"), ErrNotFound)
	})
}

func TestDeletedMembersLoseKeysAndLogins(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		one, err := s.Tenants.Put(ctx, Tenant{Name: "one"})
		require.NoError(t, err)
		two, err := s.Tenants.Put(ctx, Tenant{Name: "two"})
		require.NoError(t, err)
		ann, err := s.Users.CreateMember(ctx, Member{Tenant: one.ID, Role: "owner"}, User{Email: "ann@x"}, "p")
		require.NoError(t, err)
		bob, err := s.Users.CreateMember(ctx, Member{Tenant: one.ID, Role: "normal"}, User{Email: "bob@x"}, "p")
		require.NoError(t, err)
		require.NoError(t, s.Members.Put(ctx, Member{two.ID, ann.ID, "normal"}))
		_, bobs, err := s.Keys.Create(ctx, Key{Tenant: one.ID, User: bob.ID, Rate: 90}, "")
		require.NoError(t, err)
		k, err := s.Keys.ByText(ctx, bobs)
		require.NoError(t, err)
		require.EqualValues(t, 90, k.Rate)
		_, cookie, err := s.Logins.Create(ctx, bob.ID, time.Hour, Origin{})
		require.NoError(t, err)
		require.NoError(t, s.Members.Delete(ctx, one.ID, bob.ID))
		_, err = s.Keys.ByText(ctx, bobs)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = s.Logins.ByText(ctx, cookie)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = s.Users.Get(ctx, bob.ID)
		require.ErrorIs(t, err, ErrNotFound)

		c, err := s.Canvases.Create(ctx, Canvas{Tenant: one.ID}, "v")
		require.NoError(t, err)
		_, key, err := s.Keys.Create(ctx, Key{Tenant: one.ID, User: ann.ID}, "")
		require.NoError(t, err)
		require.NoError(t, s.Secrets.Put(ctx, one.ID, "n", []byte("v"), nil))
		require.NoError(t, s.Tenants.Delete(ctx, one.ID))
		require.ErrorIs(t, s.Tenants.Delete(ctx, one.ID), ErrNotFound)
		_, err = s.Keys.ByText(ctx, key)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = s.Canvases.TenantOf(ctx, c.ID)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = s.Users.Get(ctx, ann.ID)
		require.NoError(t, err, "the user belongs to another tenant")
		all, err := s.Tenants.List(ctx)
		require.NoError(t, err)
		require.Equal(t, []Tenant{two}, all)
	})
}

// A migration that adds a table of tenants must add it to owned, which DeleteTenant empties.
func TestOwnedTablesAreComplete(t *testing.T) {
	s := openTest(t, engineConfig(t, "sqlite"))
	const query = `SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'tenant_id'`
	tables, err := queryAll(t.Context(), s.read, func(r row) (string, error) {
		var name string
		return name, r.Scan(&name)
	}, query)
	require.NoError(t, err)
	require.ElementsMatch(t, tables, owned)
}

func TestItems(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		a, err := s.Items.Put(ctx, Item{Tenant: "t", Kind: "mcp", Name: "Files", Doc: []byte("{}")})
		require.NoError(t, err)
		_, err = s.Items.Put(ctx, Item{Tenant: "t", Kind: "mcp", Name: "fILES"})
		require.ErrorIs(t, err, ErrExists)
		_, err = s.Items.Put(ctx, Item{Tenant: "t", Kind: "plugin", Name: "Files"})
		require.NoError(t, err, "kinds do not share names")
		for range 2 {
			_, err = s.Items.Put(ctx, Item{Tenant: "t", Kind: "file", Name: "a.txt", Repeats: true})
			require.NoError(t, err)
		}
		a.Name = "More"
		b, err := s.Items.Put(ctx, a)
		require.NoError(t, err)
		require.EqualValues(t, 2, b.Rev)
		_, err = s.Items.Put(ctx, a)
		require.ErrorIs(t, err, ErrConflict)
		got, err := s.Items.Named(ctx, "t", "mcp", "MORE")
		require.NoError(t, err)
		require.Equal(t, b, got)
		_, err = s.Items.Get(ctx, "t2", "mcp", a.ID)
		require.ErrorIs(t, err, ErrNotFound)
		files, err := s.Items.List(ctx, "t", "file")
		require.NoError(t, err)
		require.Len(t, files, 2)
		require.NoError(t, s.Items.Delete(ctx, "t", "mcp", a.ID))
		require.ErrorIs(t, s.Items.Delete(ctx, "t", "mcp", a.ID), ErrNotFound)
	})
}

func TestItemsKeepSecretsSealed(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		a, err := s.Items.Put(
			ctx, Item{Tenant: "t", Kind: "provider", Name: "P", Doc: []byte("{}"), Secret: []byte("sk-very-secret")},
		)
		require.NoError(t, err)
		got, err := s.Items.Get(ctx, "t", "provider", a.ID)
		require.NoError(t, err)
		require.Equal(t, "sk-very-secret", string(got.Secret))
		all, err := s.Items.List(ctx, "t", "provider")
		require.NoError(t, err)
		require.Equal(t, []Item{got}, all)
		var dump bytes.Buffer
		require.NoError(t, s.Dump(ctx, &dump))
		require.NotContains(t, dump.String(), "very-secret")
		require.NotContains(t, dump.String(), base64.StdEncoding.EncodeToString([]byte("sk-very-secret")))
		got.Secret = nil
		got, err = s.Items.Put(ctx, got)
		require.NoError(t, err)
		require.Empty(t, got.Secret)
	})
}

func TestSecrets(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			ctx := t.Context()
			cfg := engineConfig(t, engine)
			s := openTest(t, cfg)
			require.NoError(t, s.Secrets.Put(ctx, "t", "provider.key", []byte("sk-very-secret"), nil))
			require.NoError(t, s.Secrets.Put(ctx, "t", "provider.key", []byte("sk-even-more-secret"), nil))
			value, err := s.Secrets.Open(ctx, "t", "provider.key")
			require.NoError(t, err)
			require.Equal(t, "sk-even-more-secret", string(value))
			_, err = s.Secrets.Open(ctx, "t2", "provider.key")
			require.ErrorIs(t, err, ErrNotFound)
			list, err := s.Secrets.List(ctx, access.All("t"))
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Empty(t, list[0].Hosts)

			for _, step := range []struct{ put, want []string }{
				{[]string{"a.example"}, []string{"a.example"}}, {nil, []string{"a.example"}}, {[]string{}, []string{}},
			} {
				require.NoError(t, s.Secrets.Put(ctx, "t", "provider.key", []byte("sk-even-more-secret"), step.put))
				_, hosts, err := s.Secrets.OpenBound(ctx, "t", "provider.key")
				require.NoError(t, err)
				require.Equal(t, step.want, hosts)
			}

			t.Run("a moved sealed value cannot be opened", func(t *testing.T) {
				require.NoError(t, s.write(ctx, "move", func(ctx context.Context, q querier) error {
					_, err := q.ExecContext(ctx, `UPDATE secrets SET name = 'moved'`)
					return err
				}))
				_, err := s.Secrets.Open(ctx, "t", "moved")
				require.ErrorIs(t, err, ErrWrongKey)
				require.NoError(t, s.Secrets.Delete(ctx, "t", "moved"))
			})
			t.Run("the data directory does not contain the plain text", func(t *testing.T) {
				files, err := filepath.Glob(filepath.Join(cfg.Dir, "*"))
				require.NoError(t, err)
				for _, file := range files {
					data, err := os.ReadFile(file)
					require.NoError(t, err)
					require.NotContains(t, string(data), "very-secret", file)
				}
			})
			t.Run("the key file is private to its owner", func(t *testing.T) {
				info, err := os.Stat(filepath.Join(cfg.Dir, "secret.key"))
				require.NoError(t, err)
				require.Zero(t, info.Mode().Perm()&0o077)
			})
			t.Run("another key file is rejected by Open", func(t *testing.T) {
				other := cfg
				other.KeyFile = filepath.Join(t.TempDir(), "other.key")
				_, err := Open(ctx, other)
				require.ErrorIs(t, err, ErrWrongKey)
				require.NoError(t, os.WriteFile(other.KeyFile, []byte(strings.Repeat("ab", 32)), 0o600))
				_, err = Open(ctx, other)
				require.ErrorIs(t, err, ErrWrongKey)
				require.NoError(t, os.WriteFile(other.KeyFile, []byte("short"), 0o600))
				_, err = Open(ctx, other)
				require.ErrorIs(t, err, ErrInvalid)
			})
		})
	}
}

func TestDevices(t *testing.T) {
	s := openTest(t, engineConfig(t, "sqlite"))
	text, err := s.Logins.NewDevice(AccountName("Ann@Example.org"))
	require.NoError(t, err)
	id, err := s.Logins.DeviceID(AccountName("ann@example.ORG"), text)
	require.NoError(t, err)
	require.Len(t, id, 16)
	for _, bad := range []string{"", "x", text[1:], text + "A", strings.Repeat("A", len(text))} {
		_, err = s.Logins.DeviceID(AccountName("ann@example.org"), bad)
		require.ErrorIs(t, err, ErrNotFound, "%q", bad)
	}
	_, err = s.Logins.DeviceID(AccountName("bob@example.org"), text)
	require.ErrorIs(t, err, ErrNotFound, "the cookie of another account")
}
