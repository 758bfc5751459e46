package ingest

import "context"

// Preview has the chunks that a cut would make of a document.
type Preview struct {
	Pieces []Piece // the first ones
	Total  int
	Tokens int
}

// Preview cuts a document as a parse would, and stores nothing. most bounds the pieces that are
// returned.
func (in *Ingester) Preview(ctx context.Context, input Input, most int) (*Preview, error) {
	out := &Preview{}
	for p, err := range in.cfg.Cutter.Cut(ctx, input) {
		if err != nil {
			return nil, err
		}
		if out.Total++; len(out.Pieces) < most {
			out.Pieces = append(out.Pieces, p)
		}
		out.Tokens += p.Tokens
	}
	return out, nil
}
