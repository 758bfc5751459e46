package plugin

import (
	"math"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// notifyFuncs are those functions of hyper-mcp in extism:host/user that only notify a client: the
// progress and the log of a call are known here, changed lists and resources do not exist. Their
// argument is a block of kernel memory with the params of the MCP notification. The functions that
// ask a client, such as create_message, are not offered.
var notifyFuncs = []hostFunc{
	kernelFunc("notify_progress", "I:", (*extism).notifyProgress),
	kernelFunc("notify_logging_message", "I:", (*extism).notifyMessage),
	kernelFunc("notify_resource_updated", "I:", noNotification),
	kernelFunc("notify_prompt_list_changed", ":", noNotification),
	kernelFunc("notify_resource_list_changed", ":", noNotification),
	kernelFunc("notify_tool_list_changed", ":", noNotification),
}

func noNotification(x *extism, _ []uint64) { x.g.hostWork(0) }

// notifyProgress emits the progress of a notification, as a percentage of its total if it has one.
func (x *extism) notifyProgress(s []uint64) {
	x.g.hostWork(x.blocks[s[0]])
	v, err := engine.ParseJSON(x.block(s[0]))
	if err != nil {
		return // as a malformed emit
	}
	done, _ := v.Get("progress").Float()
	total, _ := v.Get("total").Float()
	pct := 0.0
	if total > 0 {
		pct = math.Round(min(max(done/total, 0), 1) * 100)
	}
	progress := engine.Object("pct", int(pct), "note", v.Get("message").Str())
	x.g.emit(contract.Progress, progress.AppendJSON(nil))
}

// mcpLevels are the levels of MCP by those of the contract; others are errors.
var mcpLevels = map[string]uint32{"debug": 1, "info": 2, "notice": 2, "warning": 3}

// notifyMessage logs a message; any other block is logged unchanged.
func (x *extism) notifyMessage(s []uint64) {
	x.g.hostWork(x.blocks[s[0]])
	v, err := engine.ParseJSON(x.block(s[0]))
	if err != nil || v.Kind() != engine.KindObject {
		x.g.log(2, x.block(s[0]))
		return
	}
	level, ok := mcpLevels[v.Get("level").Str()]
	if !ok {
		level = 4
	}
	text := []byte(v.Get("data").Str())
	if v.Get("data").Kind() != engine.KindString {
		text = v.Get("data").AppendJSON(nil)
	}
	x.g.log(level, text)
}
