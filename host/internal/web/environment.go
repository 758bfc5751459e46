package web

import (
	"context"
	"errors"
	"fmt"
)

// ErrNoSecret means that nothing is set under a secret's name; set the environment variable.
var ErrNoSecret = errors.New("is not set")

// Environment resolves secrets from environment variables: NAME is EASEL_SECRET_NAME. Lookup is os.LookupEnv outside
// of tests.
type Environment struct {
	Lookup func(name string) (string, bool)
}

// Secret is the value of a secret.
func (e Environment) Secret(_ context.Context, name string) (string, error) {
	v, ok := e.Lookup("EASEL_SECRET_" + name)
	if !ok || v == "" {
		return "", fmt.Errorf("environment variable EASEL_SECRET_%s %w", name, ErrNoSecret)
	}
	return v, nil
}
