package component

import "github.com/easel-canvas/easel/engine"

// warn logs a problem that does not stop the run. what is its location.
func warn(call *engine.Call, what string, err error) {
	call.Log(engine.EventWarning, engine.Object("text", call.NodeID()+": "+what+": "+err.Error()))
}
