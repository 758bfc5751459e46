package knowledge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// A tenant finds what is for everybody and its own, and nothing shows that others have anything.
func TestTenants(t *testing.T) {
	b := open(t, Config{Root: folder(t,
		"shop/terms.md", "---\nowner: all\n---\nReturns of everybody.",
		"guide/a.txt", "Returns in a guide.",
		"top.txt", "Returns at the top.",
		"@ada/shop/terms.md", "---\nowner: ada\n---\nReturns of Ada.",
		"@ada/secret/deep/x.txt", "Returns nobody else may read.",
		"@ada/note.txt", "Returns in a note of Ada.",
		"@bob/plans/p.txt", "Returns in the plans of Bob.",
	)})
	find := func(tenant string, datasets ...string) []string {
		found, err := b.Of(tenant).Retrieve(t.Context(), &engine.RetrievalQuery{Text: "returns", Datasets: datasets, TopN: 9})
		require.NoError(t, err)
		for _, c := range found.Chunks {
			require.Contains(t, datasets, c.Get("kb_id").Str())
		}
		return shown(found)
	}
	require.Equal(t, []string{"@ada/shop/terms.md: Returns of Ada."}, find("ada", "shop"), "its own goes before that of everybody")
	require.Equal(t, []string{"shop/terms.md: Returns of everybody."}, find("bob", "shop"))
	require.Equal(t, []string{"shop/terms.md: Returns of everybody."}, find("", "shop"))
	require.ElementsMatch(t, []string{"@ada/secret/deep/x.txt: Returns nobody else may read.", "guide/a.txt: Returns in a guide."}, find("ada", "secret", "guide"))
	require.ElementsMatch(t, []string{"top.txt: Returns at the top.", "@ada/note.txt: Returns in a note of Ada."}, find("ada", "."))
	require.Equal(t, []string{"top.txt: Returns at the top."}, find("bob", "."))

	for tenant, names := range map[string]string{"ada": "., guide, secret, shop", "bob": "., guide, plans, shop", "": "., guide, shop", "@": "., guide, shop", "ada/secret": "., guide, shop", "..": "., guide, shop"} {
		for _, other := range []string{"@ada", "@bob", "@bob/plans", "@ada/secret", "cellar", "../@ada/secret", "@", "deep"} {
			_, err := b.Of(tenant).Retrieve(t.Context(), &engine.RetrievalQuery{Text: "returns", Datasets: []string{other}})
			require.EqualError(t, err, `dataset "`+other+`" does not exist; there are `+names, tenant)
			_, err = b.Of(tenant).(component.MetadataLister).Metadata(t.Context(), []string{other})
			require.ErrorContains(t, err, "does not exist")
		}
	}
	for tenant, owner := range map[string]string{"ada": "ada", "bob": "all", "": "all"} {
		meta, err := b.Of(tenant).(component.MetadataLister).Metadata(t.Context(), []string{"shop"})
		require.NoError(t, err)
		require.Equal(t, owner, meta.Get("owner").At(0).Str())
	}
}
