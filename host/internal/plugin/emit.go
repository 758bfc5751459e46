package plugin

import "github.com/easel-canvas/easel/plugins/contract"

// emit passes a piece on and returns 1 when the guest should finish.
func (g *guest) emit(kind contract.Kind, data []byte) uint64 {
	if g.emits++; g.emits > maxEmits {
		g.stop(contract.Errorf(contract.TooManyCalls, "more than %d emits", maxEmits))
	}
	if most := min(g.m.limits.OutputBytes(), contract.MaxPiece); len(data) > most {
		g.stop(tooLarge("an emit", len(data), most))
	}
	e, ok := contract.ReadEmission(kind, data)
	if g.tell() {
		return 1
	}
	if !ok || g.req.Emit == nil {
		return 0
	}
	g.outside(func() {
		ctx, stop := g.hostContext()
		defer stop()
		g.emitErr = g.req.Emit(ctx, e.Unmarked(g.req.SecretMark))
	})
	if g.tell() {
		return 1
	}
	return 0
}
