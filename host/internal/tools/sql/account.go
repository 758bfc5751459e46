package sql

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// checkAccount refuses an account that can act outside of a read-only transaction: with files and
// programs of the server, or as its operator.
func (c *connection) checkAccount(ctx context.Context) error {
	var powers []string
	var err error
	switch c.kind {
	case postgreSQL:
		powers, err = c.postgresPowers(ctx)
	case mySQL:
		powers, err = c.mySQLPowers(ctx)
	case sqliteFile: // has no accounts
	}
	if err != nil {
		return fmt.Errorf("privileges of account %q: %w", c.settings.User, err)
	}
	if len(powers) > 0 {
		return fmt.Errorf("%w: %q has %s, which no read-only transaction restricts; "+
			"use an account with SELECT only, or set read_only to false",
			ErrAccount, c.settings.User, strings.Join(powers, ", "))
	}
	return nil
}

// postgresPowers returns the roles of the account that are superusers or may use files and programs
// of the server. A statement can change to any role that the account is a member of.
func (c *connection) postgresPowers(ctx context.Context) ([]string, error) {
	return c.column(ctx, `
		SELECT CASE WHEN r.rolsuper THEN 'SUPERUSER (role ' || r.rolname || ')' ELSE r.rolname END
		FROM pg_catalog.pg_roles r
		WHERE (r.rolsuper OR r.rolname IN
			('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'))
			AND pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
		ORDER BY r.rolsuper DESC, 1`)
}

// mySQLPowers returns the privileges of the account, and of its roles, for files of the server and
// for its operation.
func (c *connection) mySQLPowers(ctx context.Context) ([]string, error) {
	grants, err := c.column(ctx, "SHOW GRANTS") // of MariaDB: also those of active roles and of PUBLIC
	if err != nil {
		return nil, err
	}
	if roles := rolesIn(grants); len(roles) > 0 {
		more, err := c.column(ctx, "SHOW GRANTS FOR CURRENT_USER() USING "+strings.Join(roles, ", "))
		if err != nil {
			return nil, err
		}
		grants = append(grants, more...)
	}
	return powersIn(grants), nil
}

var (
	globalGrant = regexp.MustCompile(`(?i)^GRANT (.+?) ON \*\.\* TO `)
	// roleGrant matches a line of MySQL about roles, whose names have a host: GRANT `a`@`%`,`b`@`%`
	// TO ...; lines about privileges have ON. The roles of MariaDB have no host.
	roleGrant = regexp.MustCompile(`(?i)^GRANT (` + role + `(?:, ?` + role + `)*) TO `)
	roleName  = regexp.MustCompile(role)
)

const (
	role       = quotedName + `@` + quotedName
	quotedName = "(?:`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*')"
)

// mySQLPower are the privileges that a read-only transaction does not restrict: FILE reads and
// writes files of the server, SUPER changes its settings.
var mySQLPower = []string{"FILE", "SUPER", "ALL", "ALL PRIVILEGES"}

// powersIn returns the privileges of mySQLPower in lines of SHOW GRANTS. They exist for all
// databases only.
func powersIn(grants []string) []string {
	var powers []string
	for _, line := range grants {
		match := globalGrant.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		for privilege := range strings.SplitSeq(match[1], ",") {
			privilege = strings.ToUpper(strings.TrimSpace(privilege))
			if slices.Contains(mySQLPower, privilege) {
				powers = append(powers, privilege)
			}
		}
	}
	slices.Sort(powers)
	return slices.Compact(powers)
}

// rolesIn returns the names of roles in lines of SHOW GRANTS of MySQL, quoted as in the lines.
func rolesIn(grants []string) []string {
	var roles []string
	for _, line := range grants {
		if match := roleGrant.FindStringSubmatch(line); match != nil {
			roles = append(roles, roleName.FindAllString(match[1], -1)...)
		}
	}
	return roles
}

// column returns the first column of a query.
func (c *connection) column(ctx context.Context, query string) ([]string, error) {
	rows, err := c.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // rows.Err has its error
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}
