package access_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
)

func list(t *testing.T, entries ...string) access.List {
	t.Helper()
	l, err := access.ListOf(entries...)
	require.NoError(t, err)
	return l
}

func TestWhoMayReadDocuments(t *testing.T) {
	ann := access.Reader{User: "ann", Groups: access.GroupsOf("hr", "board")}
	visitor := access.Reader{}
	closed := access.Policy{Enforce: true}
	open := access.Policy{Enforce: true, Default: list(t, "group:hr")}
	for name, c := range map[string]struct {
		policy       access.Policy
		own          access.List
		ann, visitor bool
	}{
		"not enforced":          {access.Policy{}, list(t, "user:bob"), true, true},
		"no list":               {closed, "", false, false},
		"list of no one":        {open, access.NoReaders, false, false},
		"all":                   {closed, list(t, "all"), true, true},
		"user":                  {closed, list(t, "user:ann", "user:bob"), true, false},
		"group":                 {closed, list(t, "group:board"), true, false},
		"other group":           {closed, list(t, "group:boar"), false, false},
		"group of a name":       {closed, list(t, "group:all"), false, false},
		"default":               {open, "", true, false},
		"own before default":    {open, list(t, "user:bob"), false, false},
		"user named as a group": {closed, list(t, "user:hr"), false, false},
	} {
		require.Equal(t, c.ann, c.policy.Allows(ann, c.own), name)
		require.Equal(t, c.visitor, c.policy.Allows(visitor, c.own), name)
		require.True(t, c.policy.Allows(access.Reader{Whole: true}, c.own), name)
	}
}

func TestListsOfDocuments(t *testing.T) {
	for _, bad := range []string{
		"", "hr", "group:", "group: hr", "user:", "user:a\nall", "group:a\nall", "ALL", "all ",
	} {
		_, err := access.ListOf(bad)
		require.Error(t, err, "%q", bad)
	}
	for _, l := range []access.List{"", access.NoReaders, list(t, "user:b", "all", "user:b")} {
		text, err := json.Marshal(l)
		require.NoError(t, err)
		var back access.List
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, l, back, "%s", text)
	}
	require.Equal(t, []string{"all", "user:b"}, list(t, "user:b", "all", "user:b").Entries())
}

// A text that is read as a list lets no one in by parts of entries.
func FuzzList(f *testing.F) {
	f.Add("user:ann", "group:hr")
	f.Add("all", "group:a\nall")
	f.Fuzz(func(t *testing.T, a, b string) {
		l, err := access.ListOf(a, b)
		if err != nil {
			return
		}
		visitor := access.Reader{}.In(l)
		require.Equal(t, a == "all" || b == "all", visitor)
	})
}
