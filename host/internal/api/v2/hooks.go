package v2

import "github.com/easel-canvas/easel/host/internal/api"

// Fail answers errors in the form of this face for routes that are not operations of it, such as
// requests to the plugins of schedules.
var Fail api.ErrorForm = fail
