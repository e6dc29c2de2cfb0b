"""An app that signs inboxes in with Authlib, as its documentation shows it for any OpenID provider."""

import os

import httpx
from authlib.common.security import generate_token
from authlib.integrations.httpx_client import OAuth2Client
from joserfc import jwt
from joserfc.jwk import KeySet

from harness import ask, finish

# The provider of the tests is at http://localhost.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

app = ask("app")
issuer = app["issuer"]
client = OAuth2Client(
    client_id=app["client_id"],
    client_secret=app["client_secret"],
    redirect_uri=app["redirect_uri"],
    scope="openid email",
    code_challenge_method="S256",
    token_endpoint_auth_method="client_secret_basic",
)
provider = httpx.get(f"{issuer}/.well-known/openid-configuration").json()
assert provider["issuer"] == issuer

verifier, nonce = generate_token(48), generate_token(24)
url, state = client.create_authorization_url(provider["authorization_endpoint"], code_verifier=verifier, nonce=nonce)
back = ask("browser", url=url)["back"]
token = client.fetch_token(
    provider["token_endpoint"], authorization_response=back, code_verifier=verifier, state=state
)

keys = KeySet.import_key_set(httpx.get(provider["jwks_uri"]).json())
claims = jwt.decode(token["id_token"], keys, algorithms=["ES256"]).claims
jwt.JWTClaimsRegistry(
    iss={"essential": True, "value": issuer},
    aud={"essential": True, "value": app["client_id"]},
    nonce={"essential": True, "value": nonce},
    exp={"essential": True},
).validate(claims)
finish({"claims": claims, "user_info": client.get(provider["userinfo_endpoint"]).json()})
