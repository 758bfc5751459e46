package cli

import (
	"fmt"
	"strings"

	services "github.com/easel-canvas/easel/host/internal/app"
)

const signInUsage = "OpenID `PROVIDER` at which people sign in: issuer=URL,client=ID,secret=FILE and optionally " +
	"name=TEXT, scopes=WORDS (profile and email when left out), groups_claim=NAME with owner=GROUP, admin=GROUP or " +
	"normal=GROUP, and new_role=ROLE of people in none of these; repeatable, or several after semicolons"

// signIn are the OpenID providers of the flag.
type signIn []services.ProviderConfig

// String returns the names of the providers.
func (p *signIn) String() string {
	var names []string
	for _, c := range *p {
		names = append(names, c.ID)
	}
	return strings.Join(names, ";")
}

// Set adds providers.
func (p *signIn) Set(text string) error {
	for one := range strings.SplitSeq(text, ";") {
		c, err := services.ParseProvider(strings.TrimSpace(one))
		if err != nil {
			return err
		}
		for _, other := range *p {
			if other.ID == c.ID {
				return fmt.Errorf("two providers are named %s; set name", c.ID)
			}
		}
		*p = append(*p, c)
	}
	return nil
}
