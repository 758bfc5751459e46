package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/code"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/knowledge/external"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/memories"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/tools"
	"github.com/easel-canvas/easel/host/internal/tools/sql"
	"github.com/easel-canvas/easel/host/internal/upload"
)

// ports creates the engine's ports for runs. Each port has its file port_*.go.
type ports struct {
	store    *store.Store
	files    *upload.Box
	models   *model.Tenants
	mcp      *mcp.Client
	scripts  *code.Port
	datasets *app.Datasets
	sources  external.Sources
	private  bool       // requests may reach private addresses
	tools    *tools.Set // nil without built-in tools
	memory   *runMemory
	memories *memories.Store
	chromium string            // path of the program; "" means none
	canvases func() *runs.Runs // which compiles canvases; made after the ports
	// databases runs the statements of ExeSQL.
	databases *sql.Runner
}

func (h *Host) newPorts() *ports {
	p := &ports{
		store: h.store, models: h.models, mcp: h.mcp,
		datasets: h.datasets.Service, sources: external.Open(h.cfg.Sources, nil),
		files:   &upload.Box{Store: h.store, Files: h.files, Documents: &h.documents},
		scripts: h.scripts,
		private: h.cfg.AllowPrivate, tools: h.tools, memory: h.runMemory,
		memories: memories.New(h.store, h.models), chromium: h.cfg.Browser,
		canvases: func() *runs.Runs { return h.runs },
		databases: &sql.Runner{
			Network: h.web, Dir: h.cfg.SQLiteDir, HostDir: h.cfg.Dir, Sockets: h.cfg.SQLSockets,
		},
	}
	h.ports = p.of
	return p
}

// filesOf returns the party of files of a run.
func filesOf(j *runs.Job) upload.Party {
	return upload.Party{
		Tenant: j.Tenant, By: upload.ByRun, Canvas: j.Canvas, Session: j.Session, Visitor: j.VisitorKey,
	}
}

// of returns the ports of one run.
func (p *ports) of(j *runs.Job) engine.Ports {
	models, reach, party := p.model(j), p.reach(p.rightsOf(j)), filesOf(j)
	return engine.Ports{
		Model:     models,
		Speech:    models,
		Retriever: reach.Retriever,
		Memory:    reach.Memory,
		Files:     p.files.RunFiles(party),
		Parser:    p.files.ParserOf(party),
		Counter:   chunking.Counter{},
		Documents: p.files.Maker(party),
		HTTP:      p.http(j),
		Code:      p.code(j),
		MCP:       p.mcpServers(j),
		Tools:     p.external(j),
		Canvases:  reach.Canvases,
		Secrets:   p.secrets(j),
		Budget:    p.memory.open(j.ID),
	}
}
