import {
  type OperationDefinition,
  type OperationId,
  operations,
  PREFIX,
  pathsOf,
  RESERVED_PATHS,
  UPGRADE,
} from '@restante/contracts/operations'
import type { Tier } from '@restante/contracts/vocabulary'
import { type AnyHandler, handlerTable, Router } from '@restante/service/http'

/** The target of a public path, and how it is reached. */
export interface Route {
  readonly operation: OperationDefinition
  readonly prefix: Tier
  /** Segments of the prefix, which the owning service does not see. */
  readonly prefixSegments: number
  readonly target:
    | { readonly kind: 'local'; readonly handler: AnyHandler }
    | { readonly kind: 'remote' }
    | { readonly kind: 'upgrade' }
}

const PREFIX_SEGMENTS: Record<Tier, number> = { organization: 1, pod: 3, inbox: 3 }

/**
 * The public API as one table, from the operations of the contracts under each of their prefixes.
 * @param handlers of the operations that the gateway owns; a missing or unknown one throws here.
 * @param absent operations that this installation does not offer: their paths have no route.
 */
export function routeTable(handlers: object, absent: readonly OperationId[]): Router<Route> {
  const all: readonly OperationDefinition[] = Object.values(operations)
  const local = handlerTable(
    handlers,
    all.filter((operation) => operation.service === 'gateway').map((operation) => operation.id),
  )
  const router = new Router<Route>()
  for (const { path, prefixes } of RESERVED_PATHS) {
    for (const tier of prefixes) router.reserve(`${PREFIX[tier]}${path}`)
  }
  const offered = all.filter(({ id }) => !absent.some((other) => other === id))
  for (const operation of offered) {
    for (const { tier, path } of pathsOf(operation)) {
      const target = targetOf(operation, local)
      router.add(operation.method, path, {
        operation,
        prefix: tier,
        prefixSegments: PREFIX_SEGMENTS[tier],
        target,
      })
    }
  }
  return router
}

function targetOf(operation: OperationDefinition, local: (id: string) => AnyHandler): Route['target'] {
  if (operation.response === UPGRADE) return { kind: 'upgrade' }
  return operation.service === 'gateway' ? { kind: 'local', handler: local(operation.id) } : { kind: 'remote' }
}

/** The path as the owning service knows it: without its prefix, still percent-encoded, without a trailing slash. */
export function pathBelow(route: Route, path: string): string {
  let start = 0
  for (let segment = 0; segment < route.prefixSegments; segment++) start = path.indexOf('/', start + 1)
  return path.endsWith('/') ? path.slice(start, -1) : path.slice(start)
}
