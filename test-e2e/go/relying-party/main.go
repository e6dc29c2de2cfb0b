// An app that signs inboxes in with go-oidc, as its documentation shows it for any OpenID provider. Each line that it
// prints is JSON: {"ask": "browser", "url": ...} is answered by the address that the browser is sent back to,
// {"result": ...} is the end.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

type result struct {
	Claims   map[string]any `json:"claims"`
	UserInfo map[string]any `json:"user_info"`
	// The error of OAuth for a code that is exchanged a second time.
	Again string `json:"again"`
	// Whether UserInfo is still served after that.
	Revoked bool `json:"revoked"`
}

func main() {
	log.SetFlags(0)
	done, err := signIn(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	if err := tell(map[string]any{"result": done}); err != nil {
		log.Fatal(err)
	}
}

func signIn(ctx context.Context) (*result, error) {
	provider, err := oidc.NewProvider(ctx, os.Getenv("ISSUER"))
	if err != nil {
		return nil, err
	}
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		RedirectURL:  os.Getenv("REDIRECT_URI"),
		Endpoint:     provider.Endpoint(),
		Scopes:       []string{oidc.ScopeOpenID, "email", "profile"},
	}
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	back, err := browse(config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)))
	if err != nil {
		return nil, err
	}
	code, err := codeIn(back, provider, state)
	if err != nil {
		return nil, err
	}
	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, err
	}
	done := &result{}
	subject, err := verify(ctx, provider, token, &done.Claims, nonce)
	if err != nil {
		return nil, err
	}
	source := oauth2.StaticTokenSource(token)
	info, err := provider.UserInfo(ctx, source)
	if err != nil {
		return nil, err
	}
	// OpenID Connect Core 5.3.2.
	if info.Subject != subject {
		return nil, fmt.Errorf("UserInfo is of %q, the ID token of %q", info.Subject, subject)
	}
	if err := info.Claims(&done.UserInfo); err != nil {
		return nil, err
	}
	_, err = config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return nil, fmt.Errorf("the second exchange was not refused as OAuth says: %v", err)
	}
	done.Again = refused.ErrorCode
	_, err = provider.UserInfo(ctx, source)
	done.Revoked = err != nil
	return done, nil
}

// The code in the address that the browser is sent back to, which must come from this provider (RFC 9207) and be the
// answer to this request.
func codeIn(back *url.URL, provider *oidc.Provider, state string) (string, error) {
	var metadata struct {
		Issuer      string `json:"issuer"`
		SendsIssuer bool   `json:"authorization_response_iss_parameter_supported"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return "", err
	}
	query := back.Query()
	if !metadata.SendsIssuer || query.Get("iss") != metadata.Issuer {
		return "", fmt.Errorf("the answer is from %q, and not from %q", query.Get("iss"), metadata.Issuer)
	}
	if query.Get("state") != state {
		return "", errors.New("the answer has another state")
	}
	if query.Get("code") == "" {
		return "", fmt.Errorf("there is no code in %s", back)
	}
	return query.Get("code"), nil
}

// Checks the ID token: signature, issuer, audience and times, the nonce and the hash of the access token.
func verify(ctx context.Context, provider *oidc.Provider, token *oauth2.Token, claims any, nonce string) (string, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return "", errors.New("there is no ID token")
	}
	idToken, err := provider.Verifier(&oidc.Config{ClientID: os.Getenv("CLIENT_ID")}).Verify(ctx, raw)
	if err != nil {
		return "", err
	}
	if idToken.Nonce != nonce {
		return "", errors.New("the ID token has another nonce")
	}
	if err := idToken.VerifyAccessToken(token.AccessToken); err != nil {
		return "", err
	}
	return idToken.Subject, idToken.Claims(claims)
}

func browse(address string) (*url.URL, error) {
	if err := tell(map[string]any{"ask": "browser", "url": address}); err != nil {
		return nil, err
	}
	var answer struct {
		Back string `json:"back"`
	}
	if err := json.NewDecoder(bufio.NewReader(os.Stdin)).Decode(&answer); err != nil {
		return nil, err
	}
	return url.Parse(answer.Back)
}

func tell(what any) error {
	return json.NewEncoder(os.Stdout).Encode(what)
}
