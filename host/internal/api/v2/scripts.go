package v2

import (
	"context"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// scripts are the languages of CodeExec on this host.
type scripts struct{ *app.Services }

func (s scripts) operations() []operation {
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/script-languages", body: api.BodyNone, scope: app.ScopeRead,
			name:  "listScriptLanguages",
			about: "List the languages of CodeExec, and why this host cannot run the scripts of some.",
		}, s.list),
		handle(operation{
			method: "POST", path: "/api/v2/script-languages/python/install", body: api.BodyTiny, scope: app.ScopeHost,
			name: "installPython",
			about: "Download the Python that easel is tested with from the npm registry of this host, compare its " +
				"hash with the known one, and install it. Nothing is done where Python runs already.",
		}, s.install),
	}
}

type languageView struct {
	Name     string `json:"name"`
	Missing  string `json:"missing,omitempty" jsonschema:"why its scripts cannot run here; absent if they can"`
	Installs bool   `json:"installs,omitempty" jsonschema:"whether the caller can install it"`
}

type byCaller struct{ Who app.Principal }

func (s scripts) list(_ context.Context, in byCaller) (list[languageView], error) {
	out := list[languageView]{Items: make([]languageView, len(app.ScriptLanguages))}
	operates := in.Who.May(app.ScopeHost) && s.Tenants.Operates(in.Who.Tenant)
	for i, name := range app.ScriptLanguages {
		v := languageView{Name: name}
		if err := s.Scripts.Missing(name); err != nil {
			v.Missing, v.Installs = err.Error(), name == "python" && operates && s.Scripts.Installs()
		}
		out.Items[i] = v
	}
	return out, nil
}

type installResult struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty" jsonschema:"why it was not installed"`
}

func (s scripts) install(ctx context.Context, _ byCaller) (installResult, error) {
	if err := s.Scripts.InstallPython(ctx); err != nil {
		return installResult{Error: err.Error()}, nil
	}
	return installResult{OK: true}, nil
}
