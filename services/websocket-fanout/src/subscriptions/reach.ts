import type { Caller } from '@restante/contracts/access'
import { keyOf } from './subscriptions.ts'

/** Scopes of subscriptions, in the form of `scopesOf`, where "all" is what the key of the caller reaches. */
export function reachOf({ credential, pod_id: podId = '', inbox }: Caller, scopes: readonly string[]): string[] {
  const all = keyOf({ kind: 'all' })
  const reach = {
    organization: all,
    pod: keyOf({ kind: 'pod', podId }),
    inbox: keyOf({ kind: 'inbox', inboxUid: inbox?.uid ?? '' }),
  }
  return [...new Set(scopes.map((scope) => (scope === all ? reach[credential.tier] : scope)))]
}

/** The ids that scopes of one organization name, for a query. */
export function idsOf(scopes: readonly string[]): {
  readonly whole: boolean
  readonly podIds: readonly string[]
  readonly inboxUids: readonly string[]
} {
  const named = (kind: string) => scopes.flatMap((scope) => (scope.startsWith(kind) ? [scope.slice(kind.length)] : []))
  return { whole: scopes.includes(keyOf({ kind: 'all' })), podIds: named('pod:'), inboxUids: named('inbox:') }
}
