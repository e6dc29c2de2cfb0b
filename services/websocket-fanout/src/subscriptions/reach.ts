import type { Caller } from '@restante/contracts/access'
import { keyOf, scopeOf } from './subscriptions.ts'

/** Scopes of subscriptions, in the form of `scopesOf`, where "all" is the scope of the caller's request. */
export function reachOf(caller: Caller, scopes: readonly string[]): string[] {
  const all = keyOf({ kind: 'all' })
  const own = keyOf(scopeOf(caller))
  return [...new Set(scopes.map((scope) => (scope === all ? own : scope)))]
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
