package datasets

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIndexAddress(t *testing.T) {
	for setting, want := range map[string]string{
		"": "", "postgres": "postgres://records", "postgres://h/d": "postgres://h/d",
		"postgresql://h/d": "postgresql://h/d",
		"http://h:9200":    "http://h:9200", "https://u:p@h:9200/shop": "https://u:p@h:9200/shop",
	} {
		got, err := IndexAddress(setting, "postgres://records")
		require.NoError(t, err, setting)
		require.Equal(t, want, got)
	}
	for _, setting := range []string{"opensearch", "mysql://u:secret@h/d", "h:9200"} {
		_, err := IndexAddress(setting, "")
		require.ErrorContains(t, err, "index: unknown address (one of postgres, ")
		require.NotContains(t, err.Error(), "secret")
	}
	_, err := IndexAddress("postgres", "")
	require.ErrorContains(t, err, "they are in none")
}
