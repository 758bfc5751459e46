//go:build soak

package failure_test

import "testing"

func TestTracesAfterManyKills(t *testing.T) { tracesAfterKills(t, buildPrograms(t), 60) }
