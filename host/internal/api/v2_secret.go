package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/host/internal/hostmatch"
	"github.com/easel-canvas/easel/host/internal/store"
)

type v2Secret struct {
	Name    string    `json:"name"`
	Hosts   []string  `json:"hosts,omitempty" jsonschema:"hosts it may go to; any when left out"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

type v2Secrets struct {
	Items []v2Secret `json:"items"`
}

type v2SecretInput struct {
	Value string   `json:"value"`
	Hosts []string `json:"hosts,omitempty" jsonschema:"hosts the secret may go to: example.org, example.org:8443, *.example.org; left out, an earlier secret's stay, and an empty list means any"`
}

// Bounds of secrets, in bytes.
const (
	longestSecretName = 200
	longestSecret     = 64 << 10
	mostSecretHosts   = 100
	longestHost       = 260
)

func (a *API) v2ListSecrets(c *call) error {
	list, err := a.cfg.Store.Secrets(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	out := v2Secrets{Items: make([]v2Secret, len(list))}
	for i, s := range list {
		out.Items[i] = v2Secret{s.Name, s.Hosts, time.UnixMilli(s.CreateTime).UTC(), time.UnixMilli(s.UpdateTime).UTC()}
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
	case len(in.Hosts) > mostSecretHosts:
		return badArgument("a secret has at most %d hosts", mostSecretHosts)
	case in.Value == "" || len(in.Value) > longestSecret:
		return badArgument("a secret has 1 to %d bytes", longestSecret)
	}
	for _, r := range name {
		if r < ' ' || r == '{' || r == '}' {
			return badArgument("a secret's name has no braces and no control characters")
		}
	}
	for _, host := range in.Hosts {
		if len(host) > longestHost {
			return badArgument("hosts: a host has at most %d bytes", longestHost)
		}
		if err := hostmatch.Check(host); err != nil {
			return badArgument("hosts: %s", err)
		}
	}
	if err := a.cfg.Store.PutSecret(c.ctx(), c.who.tenant, name, []byte(in.Value), in.Hosts); err != nil {
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
