package v2_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestSubjectsAreMembersAndGroupsOfTheTenant(t *testing.T) {
	s := apitest.New(t)
	require.Equal(t, "[]", s.As("one", "GET", "/api/v2/subjects", "", 200).Get("groups").JSON())
	user := `{"email":"ann@x.org","nickname":"Ann","password":"battery staple"}`
	ann := s.As("one", "POST", "/api/v2/users", user, 201).Get("id").Str()
	s.As("one", "PUT", "/api/v2/users/"+ann+"/groups", `{"groups":["ops","hr"]}`, 200)
	all := s.As("one", "GET", "/api/v2/subjects", "", 200)
	require.Equal(t, `["hr","ops"]`, all.Get("groups").JSON())
	require.Contains(t, all.Get("people").JSON(), `{"id":"`+ann+`","name":"Ann","email":"ann@x.org"}`)
	require.NotContains(t, s.As("two", "GET", "/api/v2/subjects", "", 200).JSON(), "Ann")
	reads := s.As("one", "POST", "/api/v2/keys", `{"scopes":["read","run"]}`, 201).Get("key").Str()
	s.As(reads, "GET", "/api/v2/subjects", "", 403)
}
