package host

import (
	"context"
	"net/http"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/datasets"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/ocr"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/searchmodel"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
)

// largestDocument is the size up to which documents of datasets are accepted, in bytes.
const largestDocument = 256 << 20

// openDatasets opens the index of this host and the ingestion.
func (h *Host) openDatasets(ctx context.Context) error {
	cfg := &h.cfg
	models, err := searchmodel.Open(searchmodel.Config{
		Embedding: cfg.Embedding, EmbeddingKey: cfg.EmbeddingKey, Rerank: cfg.Rerank, RerankKey: cfg.RerankKey,
		Builtin: searchmodel.OfProgram(),
		Client:  &http.Client{Transport: h.web.Transport()}, Tenant: tenantModels{h.models},
	})
	if err != nil {
		return err
	}
	if err := h.openKnowledge(ctx, models); err != nil {
		return err
	}
	index, err := datasets.IndexAddress(cfg.Index, cfg.Postgres)
	if err != nil {
		return err
	}
	h.datasets, err = datasets.Open(ctx, datasets.Config{
		Store: h.store, Files: h.files, Models: models,
		Cutter: ingest.DocumentCutter{Reader: &h.documents, Pipeline: h.runPipeline},
		Limits: app.DatasetLimits{File: largestDocument, Bytes: cfg.DatasetBytes, Chunks: cfg.DatasetChunks},
		Folder: h.knowledge,
		Index:  index, Dir: cfg.Dir, Alone: cfg.Postgres == "", Workers: cfg.IngestWorkers, Lease: cfg.Lease,
		Logger: cfg.Log,
	})
	return err
}

// tenantModels are the embedding and reranking models of the model configurations of tenants. Their
// usage by datasets is charged to the tenant.
type tenantModels struct{ models *model.Tenants }

// EmbeddingModels implements [searchmodel.TenantModels].
func (t tenantModels) EmbeddingModels(ctx context.Context, tenant string) ([]string, error) {
	return t.models.Of(tenant, "").ModelsOf(ctx, model.KindEmbedding)
}

// Embed implements [searchmodel.TenantModels].
func (t tenantModels) Embed(ctx context.Context, tenant, id string, texts []string) ([][]float32, error) {
	return t.models.Of(tenant, "").EmbedBy(ctx, id, texts)
}

// RerankModels implements [searchmodel.TenantModels].
func (t tenantModels) RerankModels(ctx context.Context, tenant string) ([]string, error) {
	return t.models.Of(tenant, "").ModelsOf(ctx, model.KindRerank)
}

// Rerank implements [searchmodel.TenantModels].
func (t tenantModels) Rerank(ctx context.Context, tenant, id, query string, texts []string) ([]byte, error) {
	return t.models.Of(tenant, "").RerankBy(ctx, id, query, texts)
}

// bucket returns the bucket of files.
func (cfg *Config) bucket() blobs.Bucket {
	return blobs.Bucket{URL: cfg.Files, Key: cfg.FilesKey, Secret: cfg.FilesSecret}
}

// ocr reads images: the configured service, or the installed program.
func (cfg *Config) ocr() (document.OCR, error) {
	if cfg.OCR == "" {
		return document.FindTesseract(), nil
	}
	return ocr.New(cfg.OCR, cfg.OCRKey, nil)
}

// closeDatasets closes the index, if it is open.
func (h *Host) closeDatasets() error {
	if h.datasets == nil {
		return nil
	}
	return h.datasets.Close()
}
