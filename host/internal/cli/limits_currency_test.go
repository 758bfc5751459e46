package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPricesNameTheirCurrency(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.json")
	set := func(text string) (prices, error) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		var p prices
		err := p.Set(file)
		return p, err
	}
	p, err := set(`{"currency": "EUR", "m": {"input": 1, "output": 2}}`)
	require.NoError(t, err)
	require.Equal(t, "EUR", p.currency)
	require.Len(t, p.Prices, 1)
	p, err = set(`{"currency": {"input": 1, "output": 2}}`)
	require.NoError(t, err)
	require.Empty(t, p.currency, "a model may have the name")
	require.Len(t, p.Prices, 1)
	_, err = set(`{"currency": "euros"}`)
	require.ErrorContains(t, err, `currency is "euros"; expected a code of three letters, such as USD`)
}
