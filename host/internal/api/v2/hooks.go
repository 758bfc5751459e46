package v2

import "github.com/easel-canvas/easel/host/internal/api"

// Fail answers errors of routes under [Prefix] that are not operations of this face, such as
// requests to the plugins of schedules.
var Fail api.ErrorForm = fail
