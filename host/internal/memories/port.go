package memories

import (
	"context"
	"slices"
	"strconv"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Port is the engine's port of memories for runs of a principal.
type Port struct {
	store   *Store
	who     Principal
	visitor store.Visitor
}

var (
	_ engine.Memory   = Port{}
	_ engine.Recaller = Port{}
)

// Of returns the engine's port for runs of a principal. Those of a visitor's conversation find what
// the runs of the same visitor remember, and nothing else: user ids in requests of visitors are
// only what they claim.
func (s *Store) Of(who Principal, visitor store.Visitor) Port { return Port{s, who, visitor} }

// Remember stores an exchange.
func (p Port) Remember(ctx context.Context, r *engine.Remembered) error {
	return p.store.Add(ctx, p.who, unique(r.MemoryIDs), Exchange{
		User: r.UserID, Visitor: p.visitor, Agent: r.AgentID, Session: r.SessionID, Input: r.UserInput,
		Response: r.AgentResponse,
	})
}

// Recall finds messages.
func (p Port) Recall(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	hits, err := p.store.Search(ctx, p.who, Query{
		Memories: unique(q.Memories), User: q.UserID, Visitor: p.visitor, Text: q.Text,
		Threshold:  q.SimilarityThreshold,
		WordWeight: q.KeywordWeight, Limit: q.TopN,
	})
	var found engine.Found
	for _, h := range hits {
		found.Chunks = append(found.Chunks, engine.Object(
			"message_id", strconv.FormatInt(h.ID, 10), "memory_id", h.Memory, "message_type", h.Kind,
			"agent_id", h.Agent, "session_id", h.Session, "user_id", h.User, "content", h.Content,
			"similarity", h.Similarity, "term_similarity", h.Term, "vector_similarity", h.Vector,
		))
	}
	return found, err
}

func unique(ids []string) []string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}
