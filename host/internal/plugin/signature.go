package plugin

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/plugins/contract"
)

// Trust are the publishers whose plugins may be loaded. Keys maps publishers to their public
// keys, in base64. Local holds for files an operator brings, Remote for what
// comes from a catalogue.
type Trust struct {
	Keys   map[string][]string
	Local  Check // default Warn
	Remote Check // default Require
}

// Check is the treatment of a plugin without a trusted signature.
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

// publisherPattern restricts the names of publishers, because people copy them into a command.
var publisherPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$`)

// Sign returns wasm with a signature of publisher as its last section.
func Sign(wasm []byte, publisher string, key ed25519.PrivateKey) ([]byte, error) {
	if !publisherPattern.MatchString(publisher) {
		return nil, contract.Errorf(contract.BadSignature,
			"publisher %q: want letters, digits, ., _, @ and -, beginning with a letter or digit", publisher)
	}
	bare, err := contract.WithSection(wasm, contract.SignatureSection, nil)
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
	return contract.WithSection(bare, contract.SignatureSection, payload)
}

// Verify checks the signature of wasm against the trusted keys. It returns the seal it saw, also
// with an error; the error has the code BadSignature and names the signature found, the trusted
// keys and the remedy.
func Verify(wasm []byte, keys map[string][]string) (Seal, error) {
	all, err := contract.CustomSections(wasm)
	if err != nil {
		return Seal{}, err
	}
	if len(all) == 0 || all[len(all)-1].Name != contract.SignatureSection || all[len(all)-1].End != len(wasm) {
		return Seal{}, contract.Errorf(contract.BadSignature,
			"not signed; %s; its publisher signs it with `easel plugin sign FILE --key KEY.pem --publisher NAME`, and a file you know is installed without --remote", trusts("", keys))
	}
	last := all[len(all)-1]
	var seal Seal
	if err := json.Unmarshal(last.Payload, &seal); err != nil {
		return Seal{}, contract.Errorf(contract.BadSignature,
			"the signature is not readable: %v; sign the file again with `easel plugin sign`", err)
	}
	if !publisherPattern.MatchString(seal.Publisher) {
		return seal, contract.Errorf(contract.BadSignature,
			"signed by publisher %q, which is not a valid publisher name; sign the file again with `easel plugin sign`",
			seal.Publisher)
	}
	seen := fmt.Sprintf("signed by publisher %q with key %s", seal.Publisher, seal.Key)
	key, err := base64.StdEncoding.DecodeString(seal.Key)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return seal, contract.Errorf(contract.BadSignature,
			"%s, which is not an ed25519 public key in base64; %s; sign the file again with `easel plugin sign`", seen,
			trusts(seal.Publisher, keys))
	}
	sig, err := base64.StdEncoding.DecodeString(seal.Sig)
	if err != nil || !ed25519.Verify(key, wasm[:last.Start], sig) {
		return seal, contract.Errorf(contract.BadSignature,
			"%s, but the bytes were changed afterwards; %s; get the file again, or sign it again with `easel plugin sign`", seen, trusts(seal.Publisher, keys))
	}
	if slices.Contains(keys[seal.Publisher], seal.Key) {
		return seal, nil
	}
	return seal, contract.Errorf(contract.BadSignature, "%s; %s; to trust it, run `easel plugin trust %s %s`", seen,
		trusts(seal.Publisher, keys), seal.Publisher, seal.Key)
}

// SignedBy describes the signer of a file, whose key is empty without a signature.
func SignedBy(key string) string {
	if key == "" {
		return "not signed"
	}
	return "signed with key " + key
}

// SealOf returns the signature of a file if it fits the bytes, whether its key is trusted or not.
func SealOf(wasm []byte) (Seal, bool) {
	seal, err := Verify(wasm, nil)
	if err == nil || seal.Key == "" {
		return Seal{}, false
	}
	if _, err := Verify(wasm, map[string][]string{seal.Publisher: {seal.Key}}); err != nil {
		return Seal{}, false
	}
	return seal, true
}

// trusts describes the trusted keys of a publisher or, if it has none, the publishers that have
// some.
func trusts(publisher string, keys map[string][]string) string {
	if len(keys[publisher]) > 0 {
		return "trusted keys of " + publisher + " are " + strings.Join(keys[publisher], ", ")
	}
	if len(keys) == 0 {
		return "no keys are trusted here"
	}
	var others []string
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		others = append(others, name+" with "+strings.Join(keys[name], ", "))
	}
	if publisher == "" {
		return "trusted are " + strings.Join(others, "; ")
	}
	return "no key of " + publisher + " is trusted, trusted are " + strings.Join(others, "; ")
}
