package ragflow

import "github.com/easel-canvas/easel/host/internal/api/ragflow/datasets"

// presenter025 is the dialect of version 0.25, whose SDK has the agents of 0.23 and the datasets of
// 0.27.
type presenter025 struct{ presenter023 }

func (presenter025) datasets() datasets.Dialect { return datasets.Newer() }
