package api

// What the original does and this host does not: it has no SQL tool and does not run pipelines. The
// routes answer as the original does when it finds nothing to work with, so that its clients show
// why.
var absentRoutes = []route{
	{method: "POST", path: "/v1/canvas/test_db_connect", body: bodySmall, scope: scopeEdit, answer: (*API).testDatabase},
	{
		method: "POST", path: "/api/v1/agents/test_db_connection", body: bodySmall, scope: scopeEdit,
		answer: (*API).testDatabase,
	},
	{method: "POST", path: "/v1/canvas/rerun", body: bodyCanvas, scope: scopeRun, answer: (*API).rerunPipeline},
	{method: "POST", path: "/api/v1/agents/rerun", body: bodyCanvas, scope: scopeRun, answer: (*API).rerunPipeline},
}

func (a *API) testDatabase(c *call) error {
	if err := c.require("db_type", "database", "username", "host", "port", "password"); err != nil {
		return err
	}
	return failed(codeException, "Unsupported database type.")
}

// rerunPipeline refuses to run a pipeline again: no document has been through one.
func (a *API) rerunPipeline(c *call) error {
	if err := c.require("id", "dsl", "component_id"); err != nil {
		return err
	}
	return failed(codeData, "Document not found.")
}
