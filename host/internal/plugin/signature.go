package plugin

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// Trust says whose plugins may be loaded. Keys maps publishers to their public
// keys, in base64. Local holds for files an operator brings, Remote for what
// comes from a catalogue.
type Trust struct {
	Keys   map[string][]string
	Local  Check // default Warn
	Remote Check // default Require
}

// Check is what happens to a plugin without a trusted signature.
type Check string

// The checks. The empty Check is the default of its place.
const (
	Require Check = "require" // refuse it
	Warn    Check = "warn"    // load it and log a warning
	Off     Check = "off"     // do not look
)

// Seal is the content of a signature section.
type Seal struct {
	Publisher string `json:"publisher"`
	Key       string `json:"key"` // ed25519 public key, base64
	Sig       string `json:"sig"` // over all bytes before the section, base64
}

// Sign returns wasm with a signature of publisher as its last section.
func Sign(wasm []byte, publisher string, key ed25519.PrivateKey) ([]byte, error) {
	bare, err := WithSection(wasm, SignatureSection, nil)
	if err != nil {
		return nil, err
	}
	seal := Seal{
		Publisher: publisher,
		Key:       base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey)),
		Sig:       base64.StdEncoding.EncodeToString(ed25519.Sign(key, bare)),
	}
	payload, err := json.Marshal(seal)
	if err != nil {
		return nil, fmt.Errorf("plugin: sign: %w", err)
	}
	return WithSection(bare, SignatureSection, payload)
}

// Verify checks the signature of wasm against the trusted keys. It returns the
// seal it saw, also beside an error; the error has the code BadSignature and says
// what was seen, what is trusted and what to do.
func Verify(wasm []byte, keys map[string][]string) (Seal, error) {
	all, err := customSections(wasm)
	if err != nil {
		return Seal{}, err
	}
	if len(all) == 0 || all[len(all)-1].name != SignatureSection || all[len(all)-1].end != len(wasm) {
		return Seal{}, fail(BadSignature, "not signed; sign it with `easel plugin sign`, or allow unsigned plugins for this source")
	}
	last := all[len(all)-1]
	var seal Seal
	if err := json.Unmarshal(last.payload, &seal); err != nil {
		return Seal{}, fail(BadSignature, "signature section is not readable: %v; sign the file again with `easel plugin sign`", err)
	}
	key, err := base64.StdEncoding.DecodeString(seal.Key)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return seal, fail(BadSignature, "key %q of publisher %q is not an ed25519 public key", seal.Key, seal.Publisher)
	}
	sig, err := base64.StdEncoding.DecodeString(seal.Sig)
	if err != nil || !ed25519.Verify(key, wasm[:last.start], sig) {
		return seal, fail(BadSignature, "the bytes were changed after publisher %q signed them with key %s; get the file again, or sign it again with `easel plugin sign`", seal.Publisher, seal.Key)
	}
	for _, trusted := range keys[seal.Publisher] {
		if trusted == seal.Key {
			return seal, nil
		}
	}
	return seal, fail(BadSignature, "signed by publisher %q with key %s; %s; to trust it, run `easel plugin trust %s %s`",
		seal.Publisher, seal.Key, trustedKeys(seal.Publisher, keys), seal.Publisher, seal.Key)
}

func trustedKeys(publisher string, keys map[string][]string) string {
	if len(keys[publisher]) == 0 {
		return "no key of this publisher is trusted"
	}
	return "trusted keys of this publisher: " + strings.Join(keys[publisher], ", ")
}
