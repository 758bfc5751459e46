package host

import (
	"context"
	"net/http"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/blobs"
	"github.com/easel-canvas/easel/host/internal/datasets"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/ocr"
	"github.com/easel-canvas/easel/host/internal/knowledge/searchmodel"
)

// largestDocument is the size up to which documents of datasets are accepted, in bytes.
const largestDocument = 256 << 20

// openDatasets opens the index of this host and what fills it.
func (h *Host) openDatasets(ctx context.Context) error {
	cfg := &h.cfg
	models, err := searchmodel.Open(searchmodel.Config{
		Embedding: cfg.Embedding, EmbeddingKey: cfg.EmbeddingKey, Rerank: cfg.Rerank, RerankKey: cfg.RerankKey,
		Client: &http.Client{Transport: h.web.Transport()},
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

// bucket is where files are.
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
