import type { OperationDefinition } from '../definition/operation.ts'
import { pathsOf } from '../operations/table.ts'
import type { Tier } from '../vocabulary/tiers.ts'
import { type Access, accessOf, type Credential } from './access.ts'
import { table } from './parts/markdown.ts'

/** A column: the answers to keys of a tier for resources in their scope and, where they differ, outside of it. */
const COLUMNS: readonly { readonly head: string; readonly own: Credential; readonly foreign: Credential }[] = [
  { head: 'Organization key', own: 'organization', foreign: 'foreign organization' },
  { head: 'Pod key', own: 'pod', foreign: 'foreign pod' },
  { head: 'Inbox key', own: 'inbox', foreign: 'foreign inbox' },
]

/** The response of every operation to every kind of key under each of its prefixes. The same table is tested. */
export function accessTable(all: readonly OperationDefinition[]): string {
  return table(
    ['Request', ...COLUMNS.map(({ head }) => head), 'Unverified organization', 'Organization-wide public key'],
    all.flatMap((operation) =>
      pathsOf(operation).map(({ tier, path }) => [
        `${operation.method} \`${path}\``,
        ...COLUMNS.map(({ own, foreign }) => cell(operation, tier, own, foreign)),
        ...(['unverified organization', 'public key'] as const).map((kind) => differing(operation, tier, kind)),
      ]),
    ),
  )
}

function cell(operation: OperationDefinition, prefix: Tier, own: Credential, foreign: Credential): string {
  const [mine, other] = [own, foreign].map((each) => text(accessOf(operation, prefix, each, true)))
  return mine === other ? `${mine}` : `${mine} / ${other}`
}

/** Empty if the response is that for the bearer key of an organization. */
function differing(operation: OperationDefinition, prefix: Tier, credential: Credential): string {
  const [usual, answered] = (['organization', credential] as const).map((each) =>
    text(accessOf(operation, prefix, each, true)),
  )
  return answered === usual ? '' : `${answered}`
}

function text({ status, code, missing }: Access): string {
  if (missing !== undefined) return `${status} ${missing}`
  return code === undefined ? String(status) : `${status} \`${code}\``
}

/** Rules that the cells of the table cannot express. */
export const ACCESS_NOTES = [
  'The response to a valid request; after the slash, the response if the resource in the path is not in the scope of the key. Without the permission it is 403 `missing_permission`, whatever the path names, so that such a key does not learn what exists. A 404 names what is not found: the first segment of the path that the key cannot reach. A resource below a parent other than the one in the path is not found either.',
  'No operation is offered below more than one prefix at once: `/v0/pods/{pod_id}/inboxes/{inbox_id}/messages` is no route. On `/v0` a pod key acts on its pod and an inbox key on its inbox: lists contain what is in this scope, and creates add to it.',
  'Without a key the answer is 401 `missing_authorization`, except where the operation needs none. A provisional key, from a sign-up whose human was already known, gets 403 `missing_permission` from every operation except `auth.me` and `agent.verify`. A stream is refused with a bare 403, also without a key. The last two columns are empty if the response is that for an organization key. Some operations require another permission of a public key, whose requests are signed; their row above names it.',
].join('\n\n')
