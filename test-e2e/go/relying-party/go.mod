// An app that signs inboxes in with go-oidc.
module restante.local/test-e2e/relying-party

go 1.25.0

require (
	github.com/coreos/go-oidc/v3 v3.21.0
	golang.org/x/oauth2 v0.36.0
)

require github.com/go-jose/go-jose/v4 v4.1.4 // indirect
