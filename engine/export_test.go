package engine

// QuestionOf is the question of a request, as exchanges have it.
func QuestionOf(q *ModelRequest) Value { return q.question() }
