import type { SignInScope } from '@restante/contracts/vocabulary'
import { escapeHtml } from '@restante/service/pages'
import type { AppShown, SharedValues } from './data.ts'

/** What each scope lets an app see, for a reader who knows no scopes (apps 6.2). */
const SCOPES: Readonly<Record<SignInScope, string>> = {
  openid: 'An identifier of the inbox, which is the same at every app',
  email: 'The address of the inbox',
  profile: 'The display name and the user name of the inbox, and an identifier of its owner',
  owner_profile: 'The name of the person who owns the inbox',
  owner_email: 'The email address of the person who owns the inbox',
}

const CLAIMS: readonly (readonly [keyof SharedValues, string])[] = [
  ['email', 'Inbox address'],
  ['name', 'Display name'],
  ['preferred_username', 'User name'],
  ['owner_name', 'Name of the owner'],
  ['owner_email', 'Email address of the owner'],
  ['sub', 'Identifier of the inbox'],
  ['owner_sub', 'Identifier of the owner'],
  ['org', 'Identifier of the organization'],
]

/** What a person calls the app: its name, or where it is. Isolated, because a name may be written from right to left. */
export function appName({ name, host }: AppShown): string {
  return `<bdi>${escapeHtml(name ?? host)}</bdi>`
}

/** The app and the host that gets the data. A name can be chosen; the host is where the data really goes. */
export function appCard({ name, host }: AppShown): string {
  const title = name === null ? '' : `<strong><bdi>${escapeHtml(name)}</bdi></strong>`
  return `<p class="app">${title}<span>${escapeHtml(host)}</span></p>`
}

/** An address or another value that somebody chose. */
export function value(text: string): string {
  return `<bdi class="value">${escapeHtml(text)}</bdi>`
}

/** What an app asks for, as a list. */
export function scopeList(scopes: readonly SignInScope[]): string {
  return `<ul aria-label="Requested data">\n${scopes.map((scope) => `<li>${SCOPES[scope]}</li>`).join('\n')}\n</ul>`
}

/** The exact values that an app gets. */
export function valueList(values: SharedValues): string {
  const rows = CLAIMS.flatMap(([claim, label]) => {
    const shared = values[claim]
    return shared === undefined ? [] : [`<div><dt>${label}</dt><dd>${value(shared)}</dd></div>`]
  })
  return `<dl>\n${rows.join('\n')}\n</dl>`
}

/** Terms and privacy policy, which open in a tab of their own; nothing where the app has neither. */
export function policyLinks(app: { readonly termsUrl: string | null; readonly privacyUrl: string | null }): string {
  const links = [
    ...(app.termsUrl === null ? [] : [outsideLink(app.termsUrl, 'Terms of service')]),
    ...(app.privacyUrl === null ? [] : [outsideLink(app.privacyUrl, 'Privacy policy')]),
  ]
  return links.length === 0 ? '' : `<p class="links">Of the app: ${links.join(', ')}</p>`
}

/** The page of the link gets no referrer, and no handle of this one. */
function outsideLink(url: string, text: string): string {
  return `<a href="${escapeHtml(url)}" target="_blank" rel="noopener noreferrer">${text}</a>`
}

/** A time as the server can tell it; the script of the page writes it in the reader's time zone. */
export function time(at: Date): string {
  const iso = at.toISOString()
  return `<time datetime="${iso}">${iso.slice(11, 16)} UTC</time>`
}

/** By which the operator finds this sign-in in the log. */
export function requestId(jti: string): string {
  return `<p class="faint">Request <code>${escapeHtml(jti)}</code></p>`
}
