package v2

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/app"
)

// loginView is a login of a user.
type loginView struct {
	ID      string    `json:"id"`
	Via     string    `json:"via" jsonschema:"password, link, or oidc: and the provider; empty is not known"`
	Address string    `json:"address" jsonschema:"address of the client"`
	Agent   string    `json:"agent" jsonschema:"User-Agent of the client, at most 200 bytes"`
	Current bool      `json:"current" jsonschema:"it is the login of the request"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
}

func loginViews(logins []app.Login, who app.Principal) list[loginView] {
	out := list[loginView]{Items: make([]loginView, len(logins))}
	for i, v := range logins {
		out.Items[i] = loginView{
			v.ID, v.Via, v.Address, v.Agent, v.ID == who.Login, timeOf(v.CreateTime), timeOf(v.ExpireTime),
		}
	}
	return out
}

func (a accounts) removeOwnPassword(ctx context.Context, in byTenant) (empty, error) {
	return empty{}, a.Accounts.RemovePassword(ctx, in.Who)
}

func (a accounts) listOwnLogins(ctx context.Context, in byTenant) (list[loginView], error) {
	logins, err := a.Accounts.Logins(ctx, in.Who)
	return loginViews(logins, in.Who), err
}

type ownLogin struct {
	Who   app.Principal
	Login string `path:"login"`
}

func (a accounts) endOwnLogin(ctx context.Context, in ownLogin) (empty, error) {
	return empty{}, a.Accounts.EndOwnLogin(ctx, in.Who, in.Login)
}

func (a accounts) listLogins(ctx context.Context, in userByID) (list[loginView], error) {
	logins, err := a.Accounts.LoginsOf(ctx, in.Who, in.ID)
	return loginViews(logins, in.Who), err
}

func (a accounts) endLogins(ctx context.Context, in userByID) (empty, error) {
	return empty{}, a.Accounts.EndLoginOf(ctx, in.Who, in.ID, "")
}

type loginOfUser struct {
	Who   app.Principal
	ID    string `path:"user"`
	Login string `path:"login"`
}

func (a accounts) endLogin(ctx context.Context, in loginOfUser) (empty, error) {
	return empty{}, a.Accounts.EndLoginOf(ctx, in.Who, in.ID, in.Login)
}
