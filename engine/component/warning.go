package component

import "github.com/easel-canvas/easel/engine"

// warn notes in the run's log something odd that does not stop the run. what says where it lies.
func warn(call *engine.Call, what string, err error) {
	call.Log(engine.EventWarning, engine.Object("text", call.NodeID()+": "+what+": "+err.Error()))
}
