package host

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/store"
)

// openQuota starts counting model tokens, of runs and of pages.
func (h *Host) openQuota(numbers *prometheus.Registry) error {
	if n := h.cfg.TokensPerDay; n < 0 || n > store.MostTokens {
		return fmt.Errorf("tokens per day %d: expected a number from 0 to %d", n, int64(store.MostTokens))
	}
	used := newTenantCounter(numbers, "easel_model_tokens_total", "Model tokens that runs and pages used on this host.")
	refused := newTenantCounter(numbers, "easel_model_refusals_total",
		"Model calls that this host refused because a quota of tokens was used up.")
	h.quota = quota.New(quota.Config{
		Store: h.store.Tokens, Uses: h.store.Uses, PerDay: h.cfg.TokensPerDay, Log: h.cfg.Log,
		Used:    func(tenant string, tokens int64) { used.add(tenant, float64(tokens)) },
		Refused: func(tenant string) { refused.add(tenant, 1) },
	})
	return nil
}
