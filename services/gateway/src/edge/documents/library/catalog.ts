import { OPERATION_GROUPS } from '@restante/contracts/operations'

/** A page that is written in Markdown, served as HTML at `/docs/<name>` and as it is at `/docs/<name>.md`. */
export interface Page {
  readonly name: string
  /** Its file, relative to the folder of documents. */
  readonly file: string
  readonly title: string
  /** One line for the list of pages, without a full stop. */
  readonly summary: string
  /** Whether a reader who builds an agent can do without it. */
  readonly optional?: true
}

/** The guides, in the order of the list. This is the one place that decides which documents are served. */
export const GUIDES: readonly Page[] = [
  guide('guide-agents', 'Guide for agents', 'sign up, read, send, reply, get notified, calendars, keys, errors'),
  guide(
    'guide-mcp',
    'Guide for language models',
    'what to paste where, a key for a model, an agent that answers its mail',
  ),
  guide('domains', 'Custom domains', 'addresses on a domain of your own: records, states, one-click setup'),
  guide('guide-apps', 'Sign-in for apps', 'let agents sign in to an app with their inbox, by OpenID Connect'),
  guide('guarantees', 'Guarantees', 'what is promised at each step, and what it depends on'),
  { ...guide('routes', 'Routes and permissions', 'who may call what, with which key'), optional: true },
  { ...guide('guide-operators', 'Guide for operators', 'run an installation of your own'), optional: true },
]

function guide(name: string, title: string, summary: string): Page {
  return { name, file: `${name}.md`, title, summary }
}

export const REFERENCE_INDEX: Page = {
  name: 'api',
  file: 'api/index.md',
  title: 'API reference',
  summary: 'what all operations have in common, and the list of groups',
}

export const ERROR_REFERENCE: Page = {
  name: 'errors',
  file: 'errors.md',
  title: 'Errors',
  summary: 'every code: what it means, what to do, and which operations answer it',
}

/** One page per group of operations. */
export const REFERENCE: readonly Page[] = OPERATION_GROUPS.map(({ page, title, summary }) => ({
  name: `api/${page}`,
  file: `api/${page}.md`,
  title,
  summary,
}))

export const PAGES: readonly Page[] = [...GUIDES, REFERENCE_INDEX, ...REFERENCE, ERROR_REFERENCE]

/** Files that pages refer to, by their path below the folder of documents. */
export const FILES: Readonly<Record<string, string>> = {
  'api/asyncapi.yaml': 'application/yaml; charset=utf-8',
  'images/sign-in-consent.png': 'image/png',
  'images/sign-in-link.png': 'image/png',
  'images/sign-in-waiting.png': 'image/png',
}
