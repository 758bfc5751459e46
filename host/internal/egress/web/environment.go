package web

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/hostmatch"
)

// ErrNoSecret means that a secret is not set; set the environment variable.
var ErrNoSecret = errors.New("is not set")

// Environment resolves secrets from environment variables: the secret NAME is EASEL_SECRET_NAME,
// and EASEL_SECRET_NAME_HOSTS lists the hosts it may be sent to, separated by commas; if unset, any
// host. A name that ends in _HOSTS is not a secret. Lookup is os.LookupEnv outside of tests.
type Environment struct {
	Lookup func(name string) (string, bool)
}

// Secret returns a secret. Errors: [ErrNoSecret], malformed hosts.
func (e Environment) Secret(_ context.Context, name string) (engine.Secret, error) {
	variable := "EASEL_SECRET_" + name
	v, ok := e.Lookup(variable)
	if !ok || v == "" || strings.HasSuffix(name, hostsSuffix) {
		return engine.Secret{}, fmt.Errorf("environment variable %s %w", variable, ErrNoSecret)
	}
	secret := engine.Secret{Value: v}
	hosts, bound := e.Lookup(variable + hostsSuffix)
	if !bound {
		return secret, nil
	}
	for _, host := range strings.Split(hosts, ",") {
		host = strings.TrimSpace(host)
		if err := hostmatch.Check(host); err != nil {
			return engine.Secret{}, fmt.Errorf("environment variable %s%s: %w", variable, hostsSuffix, err)
		}
		secret.Hosts = append(secret.Hosts, host)
	}
	return secret, nil
}

const hostsSuffix = "_HOSTS"
