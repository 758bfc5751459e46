package store

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Two owners who demote or remove each other leave one owner.
func TestTheLastOwnerStays(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		tenant, err := s.Tenants.Put(ctx, Tenant{Name: "one"})
		require.NoError(t, err)
		change := map[string]func(m Member) error{
			"demote": func(m Member) error { return s.Members.SetRole(ctx, m, "admin", none) },
			"remove": func(m Member) error { return s.Members.Remove(ctx, m, Heir{}, ScheduleRecords{}) },
		}
		owner := func(user string) Member { return Member{Tenant: tenant.ID, User: user, Role: "owner"} }
		for name, f := range change {
			for range 10 {
				var wait sync.WaitGroup
				errs := make([]error, 2)
				for _, user := range []string{"ann", "bob"} {
					require.NoError(t, s.Members.Put(ctx, owner(user)))
				}
				for i, user := range []string{"ann", "bob"} {
					wait.Go(func() { errs[i] = f(owner(user)) })
				}
				wait.Wait()
				if errs[0] == nil {
					errs[0], errs[1] = errs[1], errs[0]
				}
				require.ErrorIs(t, errs[0], ErrLastOwner, name)
				require.NoError(t, errs[1], name)
			}
		}
	})
}

// none are ranks that select no key.
var none = ranked(func(Key) bool { return false })

func ranked(beyond func(Key) bool) Ranks {
	return Ranks{
		Strongest: func(roles ...string) string {
			order := []string{"", "normal", "admin", "owner"}
			return slices.MaxFunc(roles, func(a, b string) int {
				return slices.Index(order, a) - slices.Index(order, b)
			})
		},
		Beyond: func(_ string, key Key) bool { return beyond(key) },
	}
}

// A member who may do less loses the keys that do more in the same commit.
func TestKeysOfALowerRole(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		ann, bob := Member{Tenant: "t", User: "ann", Role: "owner"}, Member{Tenant: "t", User: "bob", Role: "admin"}
		require.NoError(t, s.Members.Put(ctx, ann))
		require.NoError(t, s.Members.Put(ctx, bob))
		for _, k := range []Key{
			{Tenant: "t", User: "bob", Name: "wide", Scopes: []string{"admin"}},
			{Tenant: "t", User: "bob", Name: "narrow", Scopes: []string{"read"}},
			{Tenant: "u", User: "bob", Name: "elsewhere", Scopes: []string{"admin"}},
			{Tenant: "t", User: "ann", Name: "other", Scopes: []string{"admin"}},
		} {
			_, _, err := s.Keys.Create(ctx, k, k.Name)
			require.NoError(t, err)
		}
		administers := ranked(func(k Key) bool { return slices.Contains(k.Scopes, "admin") })
		require.NoError(t, s.Members.SetRole(ctx, bob, "normal", administers))
		_, err := s.Keys.ByText(ctx, "wide")
		require.ErrorIs(t, err, ErrNotFound)
		for _, kept := range []string{"narrow", "elsewhere", "other"} {
			_, err := s.Keys.ByText(ctx, kept)
			require.NoError(t, err, kept)
		}
		require.ErrorIs(t, s.Members.SetRole(ctx, ann, "normal", administers), ErrLastOwner)
		_, err = s.Keys.ByText(ctx, "other")
		require.NoError(t, err, "nothing was changed")
	})
}

func TestRoleOfAMember(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		m := Member{Tenant: "t", User: "ann", Role: "owner"}
		require.NoError(t, s.Members.Put(ctx, m))
		require.NoError(t, s.Members.Put(ctx, Member{Tenant: "other", User: "bob", Role: "owner"}))
		require.ErrorIs(t, s.Members.SetRole(ctx, m, "normal", none), ErrLastOwner)
		require.ErrorIs(t, s.Members.Remove(ctx, m, Heir{}, ScheduleRecords{}), ErrLastOwner)
		require.NoError(t, s.Members.SetRole(ctx, m, "owner", none))

		bob := Member{Tenant: "t", User: "bob", Role: "normal"}
		require.ErrorIs(t, s.Members.SetRole(ctx, bob, "admin", none), ErrNotFound)
		require.ErrorIs(t, s.Members.Remove(ctx, bob, Heir{}, ScheduleRecords{}), ErrNotFound)
		require.NoError(t, s.Members.Put(ctx, bob))
		require.NoError(t, s.Members.SetRole(ctx, bob, "owner", none))
		require.ErrorIs(t, s.Members.SetRole(ctx, bob, "admin", none), ErrConflict, "an owner since")
		require.ErrorIs(t, s.Members.Remove(ctx, bob, Heir{}, ScheduleRecords{}), ErrConflict)
		require.NoError(t, s.Members.Remove(ctx, m, Heir{}, ScheduleRecords{}))
		list, err := s.Members.List(ctx, "t")
		require.NoError(t, err)
		require.Equal(t, []Member{{Tenant: "t", User: "bob", Role: "owner"}}, list)
	})
}

func TestKeyByIDOrText(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		k, text, err := s.Keys.Create(ctx, Key{Tenant: "t", Name: "n", Scopes: []string{"run"}, ExpireTime: 1}, "")
		require.NoError(t, err)
		for _, name := range []string{k.ID, text} {
			found, err := s.Keys.Get(ctx, "t", name)
			require.NoError(t, err)
			require.Equal(t, k, found, "also an expired one")
			_, err = s.Keys.Get(ctx, "other", name)
			require.ErrorIs(t, err, ErrNotFound)
		}
	})
}

// What a member had passes to an owner, so that somebody can end what runs.
func TestObjectsOfARemovedMember(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		for user, role := range map[string]string{"ann": "owner", "bob": "normal", "carl": "admin"} {
			require.NoError(t, s.Members.Put(ctx, Member{Tenant: "t", User: user, Role: role}))
		}
		canvas, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", User: "bob", Title: "c", DSL: []byte("{}")}, "")
		require.NoError(t, err)
		elsewhere, err := s.Canvases.Create(ctx, Canvas{Tenant: "u", User: "bob", Title: "c", DSL: []byte("{}")}, "")
		require.NoError(t, err)
		set := dataset.Dataset{ID: NewDocumentID(), Tenant: "t", Name: "d", CreatedBy: "bob"}
		_, err = s.Datasets.Create(ctx, Dataset{Dataset: set})
		require.NoError(t, err)
		memory, err := s.Memories.Create(ctx, Memory{Tenant: "t", User: "bob", Name: "m", Settings: []byte("{}")})
		require.NoError(t, err)
		require.NoError(t, s.Members.Delete(ctx, "t", "bob"))

		canvas, err = s.Canvases.Get(ctx, "t", canvas.ID)
		require.NoError(t, err)
		require.Equal(t, "ann", canvas.User)
		elsewhere, err = s.Canvases.Get(ctx, "u", elsewhere.ID)
		require.NoError(t, err)
		require.Equal(t, "bob", elsewhere.User)
		d, err := s.Datasets.Get(ctx, "t", set.ID)
		require.NoError(t, err)
		require.Equal(t, "ann", d.CreatedBy)
		memory, err = s.Memories.Get(ctx, "t", memory.ID)
		require.NoError(t, err)
		require.Equal(t, "ann", memory.User)
	})
}

// A role that groups gave does not count when their provider is deleted: none could lower it.
func TestRoleOfADeletedProvider(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		require.NoError(t, s.Members.Put(ctx, Member{Tenant: "t", User: "ann", Role: "owner"}))
		provider, err := s.Items.Put(ctx, Item{Tenant: "t", Kind: "oidc", ID: "old", Name: "old", Doc: []byte("{}")})
		require.NoError(t, err)
		admin := "admin"
		link := func(name, provider string) Identity {
			v, err := s.Identities.Link(ctx, Identity{
				Tenant: "t", Issuer: "https://x", Subject: name, Provider: provider,
			}, &User{Email: name + "@x.org"})
			require.NoError(t, err)
			_, err = s.Identities.SetRole(ctx, v, &admin, nil, none, AuditEntry{})
			require.NoError(t, err)
			return v
		}
		role := func(user string) string {
			members, err := s.Members.OfUser(ctx, user)
			require.NoError(t, err)
			return members[0].Role
		}
		bob, eve := link("bob", "old"), link("eve", "old")
		lower := func() error {
			return s.Members.SetRole(ctx, Member{Tenant: "t", User: bob.User, Role: "admin"}, "normal", none)
		}
		require.ErrorIs(t, lower(), ErrStronger)
		require.NoError(t, s.Items.Delete(ctx, provider.Tenant, provider.Kind, provider.ID))
		require.Equal(t, "admin", role(bob.User))
		fixed := none
		fixed.Fixed = []string{"old"}
		err = s.Members.SetRole(ctx, Member{Tenant: "t", User: bob.User, Role: "admin"}, "normal", fixed)
		require.ErrorIs(t, err, ErrStronger, "the command line has it")
		require.NoError(t, lower())
		require.Equal(t, "normal", role(bob.User))

		next, err := s.Identities.Link(ctx, Identity{
			Tenant: "t", Issuer: "https://y", Subject: "eve", User: eve.User, Provider: "new",
		}, nil)
		require.NoError(t, err)
		_, err = s.Items.Put(ctx, Item{Tenant: "t", Kind: "oidc", ID: "new", Name: "new", Doc: []byte("{}")})
		require.NoError(t, err)
		normal := "normal"
		_, err = s.Identities.SetRole(ctx, next, &normal, nil, none, AuditEntry{})
		require.NoError(t, err)
		require.Equal(t, "normal", role(eve.User), "what the provider of today gives")
	})
}

// What a member who is removed had, and what acted for the member, goes to the heir in one commit,
// of each kind, or ends; what the heir may not have is deleted.
func TestLeaversHandOverEachKind(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		for user, role := range map[string]string{"ann": "owner", "bob": "normal", "carl": "normal"} {
			require.NoError(t, s.Members.Put(ctx, Member{Tenant: "t", User: user, Role: role}))
		}
		records := ScheduleRecords{
			Kind: "schedule", Reads: func(doc []byte) (string, error) { return strings.Trim(string(doc), `"`), nil },
			HandOver: func(_ []byte, to string) ([]byte, error) { return []byte(`"` + to + `"`), nil },
		}
		canvas := Canvas{Tenant: "t", User: "bob", Title: "c", DSL: []byte("{}")}
		canvas.Released = true
		canvas, err := s.Canvases.Create(ctx, canvas, "first")
		require.NoError(t, err)
		anns, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", User: "ann", Title: "a", DSL: []byte("{}")}, "first")
		require.NoError(t, err)
		set := dataset.Dataset{
			ID: NewDocumentID(), Tenant: "t", Name: "d", CreatedBy: "bob", Pipeline: canvas.ID, PipelineBy: "bob",
		}
		_, err = s.Datasets.Create(ctx, Dataset{Dataset: set})
		require.NoError(t, err)
		memory, err := s.Memories.Create(ctx, Memory{Tenant: "t", User: "bob", Name: "m", Settings: []byte("{}")})
		require.NoError(t, err)
		weak, text, err := s.Keys.Create(ctx, Key{Tenant: "t", User: "bob", Scopes: []string{"run"}}, "")
		require.NoError(t, err)
		strong, _, err := s.Keys.Create(ctx, Key{Tenant: "t", User: "bob", Scopes: []string{"admin"}}, "")
		require.NoError(t, err)
		for _, k := range []Key{weak, strong} {
			grant := Grant{Tenant: "t", Subject: "key:" + k.ID, Object: "canvas:" + canvas.ID, Role: 1}
			_, err = s.Projects.Grant(ctx, grant)
			require.NoError(t, err)
		}
		token, err := s.Betas.ForAll(ctx, "t", "bob")
		require.NoError(t, err)
		schedules := map[string]string{}
		for _, user := range []string{"ann", "bob"} {
			v, err := s.Items.Put(ctx, Item{Tenant: "t", Kind: "schedule", Name: user, Doc: []byte(`"` + user + `"`)})
			require.NoError(t, err)
			schedules[user] = v.ID
		}
		b, err := s.Members.Belongings(ctx, "t", "bob", records)
		require.NoError(t, err)
		require.Equal(t, Belongings{
			Canvases: 1, Datasets: 1, Memories: 1, Published: 1, Drafts: 1, Pipelines: 1, Keys: 2, EmbedTokens: 1,
			Schedules: 1,
		}, b)
		none, err := s.Members.Belongings(ctx, "t", "carl", records)
		require.NoError(t, err)
		require.Zero(t, none)

		m := Member{Tenant: "t", User: "bob", Role: "normal"}
		may := func(k Key) bool { return !slices.Contains(k.Scopes, "admin") }
		for _, other := range []string{"bob", "stranger"} {
			to := Heir{User: other, Agrees: true, MayHave: may, Token: true}
			require.ErrorIs(t, s.Members.Remove(ctx, m, to, records), ErrNoHeir)
		}
		b2, err := s.Members.Belongings(ctx, "t", "bob", records)
		require.NoError(t, err)
		require.Equal(t, b, b2, "a refused removal changes nothing")
		to := Heir{User: "carl", Agrees: true, MayHave: may, Token: true}
		require.NoError(t, s.Members.Remove(ctx, m, to, records))

		b, err = s.Members.Belongings(ctx, "t", "carl", records)
		require.NoError(t, err)
		require.Equal(t, Belongings{
			Canvases: 1, Datasets: 1, Memories: 1, Published: 1, Drafts: 1, Pipelines: 1, Keys: 1, EmbedTokens: 1,
			Schedules: 1,
		}, b)
		left, err := s.Members.Belongings(ctx, "t", "bob", records)
		require.NoError(t, err)
		require.Zero(t, left)
		now, err := s.Canvases.Get(ctx, "t", canvas.ID)
		require.NoError(t, err)
		require.Equal(t, []string{"carl", "carl", "carl"}, []string{now.User, now.Author, now.Publisher})
		require.Greater(t, now.Rev, canvas.Rev, "an edit of the former revision must not give it back")
		other, err := s.Canvases.Get(ctx, "t", anns.ID)
		require.NoError(t, err)
		require.Equal(t, anns, other)
		key, err := s.Keys.ByText(ctx, text)
		require.NoError(t, err)
		require.Equal(t, "carl", key.User)
		_, err = s.Keys.Get(ctx, "t", strong.ID)
		require.ErrorIs(t, err, ErrNotFound)
		grants, err := s.Projects.Grants(ctx, "t", "canvas:"+canvas.ID)
		require.NoError(t, err)
		require.Len(t, grants, 1)
		require.Equal(t, "key:"+weak.ID, grants[0].Subject)
		beta, err := s.Betas.ByText(ctx, token.Text)
		require.NoError(t, err)
		require.Equal(t, "carl", beta.User)
		m2, err := s.Memories.Get(ctx, "t", memory.ID)
		require.NoError(t, err)
		require.Equal(t, "carl", m2.User)
		for user, doc := range map[string]string{"ann": `"ann"`, "bob": `"carl"`} {
			v, err := s.Items.Get(ctx, "t", "schedule", schedules[user])
			require.NoError(t, err)
			require.Equal(t, doc, string(v.Doc))
		}
	})
}
