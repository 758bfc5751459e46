package web

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/hostmatch"
)

// ErrNoSecret means that nothing is set under a secret's name; set the environment variable.
var ErrNoSecret = errors.New("is not set")

// Environment resolves secrets from environment variables: NAME is EASEL_SECRET_NAME, and the hosts
// it may go to, with commas between them, are EASEL_SECRET_NAME_HOSTS; without that variable it may
// go to any. A name that ends in _HOSTS is not a secret. Lookup is os.LookupEnv outside of tests.
type Environment struct {
	Lookup func(name string) (string, bool)
}

// Secret is the value of a secret.
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
