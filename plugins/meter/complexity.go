package meter

// Limits of code that compilers take more than linear time or memory for. They are several times
// what real modules have: of sixty modules of seven languages, none has more than 6 nested loops,
// 1,707 nested blocks, 24,616 branch targets in a function, 127,000 in the module, or 700,000
// locals times blocks.
const (
	maxLoops         = 64 // nested
	maxDepth         = 8192
	maxFuncTargets   = 1 << 15
	maxModuleTargets = 1 << 19
	maxFuncBytes     = 1 << 20
	maxSections      = 1000
	// maxVariables bounds locals times blocks of a function: a compiler follows every local through
	// every block.
	maxVariables = 2 << 20
)

// complexity counts against these limits.
type complexity struct {
	blocks, loops int // of the function; loops are those that are open
	funcTargets   int
	targets       int
}

// begin checks the size of a function body and resets the counts of functions.
func (c *complexity) begin(r *reader) {
	c.blocks, c.loops, c.funcTargets = 0, 0, 0
	if n := r.end - r.pos; n > maxFuncBytes {
		r.fail(overLimit("function body of %d bytes at byte %d, allowed are %d", n, r.pos, maxFuncBytes))
	}
}

// open counts a block; depth is the number of blocks around it.
func (c *complexity) open(r *reader, loop bool, depth int, locals uint32) {
	c.blocks++
	if loop {
		c.loops++
	}
	switch {
	case c.loops > maxLoops:
		r.fail(overLimit("more than %d nested loops at byte %d", maxLoops, r.pos))
	case depth > maxDepth:
		r.fail(overLimit("more than %d nested blocks at byte %d", maxDepth, r.pos))
	case uint64(c.blocks)*uint64(locals) > maxVariables:
		r.fail(overLimit("function with %d locals has more than %d blocks at byte %d",
			locals, maxVariables/locals, r.pos))
	}
}

func (c *complexity) closeLoop() { c.loops-- }

// branch counts the targets of a table of branches.
func (c *complexity) branch(r *reader, targets int) {
	c.funcTargets += targets
	c.targets += targets
	switch {
	case c.funcTargets > maxFuncTargets:
		r.fail(overLimit("more than %d branch targets in the function at byte %d", maxFuncTargets, r.pos))
	case c.targets > maxModuleTargets:
		r.fail(overLimit("more than %d branch targets", maxModuleTargets))
	}
}
