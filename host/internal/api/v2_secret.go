package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

type v2Secret struct {
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

type v2Secrets struct {
	Items []v2Secret `json:"items"`
}

type v2SecretInput struct {
	Value string `json:"value"`
}

// Bounds of secrets, in bytes.
const (
	longestSecretName = 200
	longestSecret     = 64 << 10
)

func (a *API) v2ListSecrets(c *call) error {
	list, err := a.cfg.Store.Secrets(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	out := v2Secrets{Items: make([]v2Secret, len(list))}
	for i, s := range list {
		out.Items[i] = v2Secret{s.Name, time.UnixMilli(s.CreateTime).UTC(), time.UnixMilli(s.UpdateTime).UTC()}
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2PutSecret(c *call) error {
	var in v2SecretInput
	if err := c.decode(&in); err != nil {
		return err
	}
	name := c.params["name"]
	switch {
	case len(name) > longestSecretName:
		return badArgument("a secret's name has at most %d bytes", longestSecretName)
	case in.Value == "" || len(in.Value) > longestSecret:
		return badArgument("a secret has 1 to %d bytes", longestSecret)
	}
	for _, r := range name {
		if r < ' ' || r == '{' || r == '}' {
			return badArgument("a secret's name has no braces and no control characters")
		}
	}
	if err := a.cfg.Store.PutSecret(c.ctx(), c.who.tenant, name, []byte(in.Value)); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) v2DeleteSecret(c *call) error {
	err := a.cfg.Store.DeleteSecret(c.ctx(), c.who.tenant, c.params["name"])
	if errors.Is(err, store.ErrNotFound) {
		return notFoundV2("secret")
	}
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
