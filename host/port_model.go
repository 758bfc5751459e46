package host

import (
	"fmt"
	"net/http"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/limit"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// openModels reads the configured providers. Providers added by tenants have the network access of
// canvases.
func (h *Host) openModels() error {
	models := h.cfg.Models
	models.Currency, models.Rates = h.cfg.Currency, h.cfg.Rates
	shared, err := model.New(models)
	if err != nil {
		return fmt.Errorf("model configuration: %w", err)
	}
	limiter, err := limit.New(h.cfg.ModelLimits)
	if err != nil {
		return fmt.Errorf("model limits: %w", err)
	}
	transport := h.web.Through(http.ProxyFromEnvironment, modelTransport(h.web))
	h.models = &model.Tenants{
		Records: h.store.Items, Host: shared, Operator: firstTenantID, Transport: transport,
		Account: func(tenant, caller string) model.Account { return h.quota.Of(tenant, caller) },
		Used:    func(u model.Use) { recordUse(h.quota, h.cfg.Prices, u) },
		Limiter: limiter,
	}
	if !h.cfg.AllowPrivate {
		h.models.Local = func(port uint16) http.RoundTripper { return modelTransport(&web.Client{Loopback: port}) }
	}
	h.models.Remember(h.store.Lessons)
	return nil
}

func modelTransport(c *web.Client) *http.Transport {
	t := c.Transport()
	t.ResponseHeaderTimeout = 0 // models take long; package model bounds the time without output
	return t
}

// model provides the models, speech and embeddings of one run.
func (p *ports) model(j *runs.Job) *model.Tenant {
	return p.models.Of(j.Tenant, j.Caller).InRun(j.ID).ForCanvas(j.Canvas)
}

// recordUse counts a model call with its price: that of the tenant, of the operator, or of the
// vendor.
func recordUse(meter *quota.Meter, prices engine.Prices, u model.Use) {
	price, ok := prices.Of(u.Model)
	if (!ok || u.Own) && u.Price != nil {
		price = *u.Price
	}
	meter.Record(quota.Use{
		Tenant: u.Tenant, Canvas: u.Canvas, Model: u.Model, Input: u.Input, Output: u.Output,
		Cost: price.Cost(engine.Usage{
			Prompt: int(u.Input), Completion: int(u.Output), Cached: int(u.Cached), Written: int(u.Written),
		}),
	})
}
