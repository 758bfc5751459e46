package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Email sends an e-mail.
type Email struct {
	External
	To         engine.Expr `json:"to_email" doc:"address of the recipient" default:"{sys.query}" label:"To"`
	CC         engine.Expr `json:"cc_email" doc:"more addresses, separated by commas" label:"CC"`
	Subject    engine.Expr `json:"subject" doc:"subject line"`
	Content    engine.Expr `json:"content" doc:"body of the e-mail, as HTML"`
	Server     string      `json:"smtp_server" doc:"address of the mail server" label:"SMTP server"`
	Port       int         `json:"smtp_port" doc:"port of the mail server" default:"465" min:"1" label:"SMTP port"`
	Account    string      `json:"email" doc:"address of the sender, also used as account name"`
	Password   string      `json:"password" doc:"password, preferably {{secret:NAME}}"`
	SenderName string      `json:"sender_name" doc:"name of the sender"`
	Username   string      `json:"smtp_username" doc:"account name at the mail server; the sender's address if empty" label:"SMTP account"`

	Attachments []engine.Expr `json:"attachments" doc:"attached files, as references"`
}

// Run sends the e-mail. Without a recipient it does nothing.
func (e *Email) Run(ctx context.Context, call *engine.Call) error {
	call.Out("success", engine.Bool(false))
	files, err := evaluated(ctx, call, e.Attachments)
	if err != nil {
		return err
	}
	args := []arg{
		{name: "to_email", param: &e.To},
		{name: "cc_email", param: &e.CC},
		{name: "subject", param: &e.Subject},
		{name: "content", param: &e.Content},
	}
	if files.Len() > 0 {
		list := engine.ParseExpr(files)
		args = append(args, arg{name: "attachments", param: &list})
	}
	return e.act(ctx, call, args...)
}

var emailSpec = outside("Email", "email", "Sends a mail.", "success",
	func() engine.Component {
		return &Email{External: External{settings: []string{"smtp_server", "email", "password", "sender_name"}}}
	}, nil,
	wanted("to_email", "address of the recipient"), maybe("cc_email", "string", "more addresses, separated by commas"),
	maybe("content", "string", "body of the e-mail, as HTML"), maybe("subject", "string", "subject line"))
