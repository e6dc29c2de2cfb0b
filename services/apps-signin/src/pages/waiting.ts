import { createHash } from 'node:crypto'
import { escapeHtml, type RenderedPage } from '@restante/service/pages'
import type { WaitingData } from './data.ts'
import { renderPage } from './layout.ts'
import { appCard, appName, requestId, scopeList, time, value } from './parts.ts'
import { ended, expired, FAILED, renderStates, type State, UNSUPPORTED } from './states.ts'

const ADDRESS = /^[^\s@"'<>]{1,64}@[a-z0-9.-]{1,253}$/i

/**
 * The page of a sign-in that has begun (apps 7.1). Its script proves a key of this browser, or waits until an agent lets
 * the sign-in go on, makes the key then and proves it.
 */
export function waitingPage(data: WaitingData): RenderedPage {
  const hint = data.loginHint !== null && ADDRESS.test(data.loginHint) ? data.loginHint : null
  const states = [checking(data), waiting(data, hint), choose(data), signingIn(data)]
  return renderPage({
    status: 200,
    title: `Sign in to ${data.app.name ?? data.app.host}`,
    content: renderStates([...states, expired(data.app), ended(data.app), FAILED, UNSUPPORTED]),
    head: `<meta name="agentid-session-action" content="${escapeHtml(JSON.stringify(sessionAction(data, hint)))}">\n`,
    script: { name: 'waiting.js', data: scriptData(data, hint) },
    sessions: true,
  })
}

/** By which an agent that controls the browser learns what to call (apps 7.1). */
function sessionAction(data: WaitingData, hint: string | null) {
  return {
    type: 'agentid_session_required',
    issuer: data.authBase,
    browser_origin: data.authBase,
    authorize_endpoint: `${data.apiBase}/v0/inboxes/{inbox_id}/authorize`,
    auth_token: data.authToken,
    request_id: data.jti,
    expires_at: Math.floor(data.expiresAt.getTime() / 1_000),
    login_hint: hint,
    login_hint_authoritative: false,
  }
}

function scriptData(data: WaitingData, hint: string | null) {
  return {
    jti: data.jti,
    'client-id': data.clientId,
    'redirect-uri-hash': createHash('sha256').update(data.redirectUri).digest('base64url'),
    'app-name': data.app.name ?? data.app.host,
    'expires-at': data.expiresAt.toISOString(),
    // A hint that is no address fits no key, so it must not be left out.
    'login-hint': hint ?? data.loginHint ?? '',
    'prompt-none': String(data.promptNone),
  }
}

function checking({ app }: WaitingData): State {
  return {
    name: 'checking',
    heading: `Signing in to ${appName(app)}`,
    content: `${appCard(app)}\n<p class="busy">Looking for an inbox in this browser …</p>`,
  }
}

function waiting({ app, scopes, jti, expiresAt }: WaitingData, hint: string | null): State {
  const who = hint === null ? 'an inbox' : value(hint)
  return {
    name: 'waiting',
    heading: `Waiting for an agent to sign in to ${appName(app)}`,
    content: `${appCard(app)}
<p>The app asks to sign ${who} in, and to see:</p>
${scopeList(scopes)}
<p class="busy">This browser has no key of ${hint === null ? 'an inbox' : 'that inbox'} yet. The agent that uses this browser lets the sign-in go on with its API key, by what it reads in this page. Then this page continues by itself.</p>
<p class="faint">Did you not start this? Close the page, and nothing is shared. It waits until ${time(expiresAt)}.</p>
${requestId(jti)}`,
  }
}

function choose({ app, scopes, jti }: WaitingData): State {
  return {
    name: 'choose',
    heading: `Which inbox signs in to ${appName(app)}?`,
    content: `${appCard(app)}
<p>This browser has keys of several inboxes. The app asks to see of the one that you choose:</p>
${scopeList(scopes)}
<ul class="choices" aria-label="Inboxes" data-choices></ul>
<p class="actions"><button type="button" class="second" data-other>Another inbox</button></p>
${requestId(jti)}`,
  }
}

function signingIn({ app }: WaitingData): State {
  return {
    name: 'signing-in',
    heading: `Signing in to ${appName(app)}`,
    content: `${appCard(app)}\n<p class="busy">Signing <bdi class="value" data-address></bdi> in …</p>`,
  }
}
