import { Agent } from 'node:http'
import { asCurl, exchange, type HttpAnswer } from './exchange.ts'
import { faultOf } from './judge.ts'
import type { ApiDocument, Route } from './requests/api-document.ts'
import { Draw } from './requests/draw.ts'
import type { KnownThings } from './requests/known-things.ts'
import { type HttpRequest, makeRequest } from './requests/make-request.ts'

export interface FuzzOptions {
  readonly origin: string
  readonly document: ApiDocument
  readonly known: KnownThings
  /** The key for a route. */
  readonly keyFor: (route: Route, draw: Draw) => string
  readonly seed: number
  readonly requests: number
  readonly concurrency: number
}

export interface Findings {
  /** Number of responses by operation and status. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, number>>
  /** Failures, each with its seed and the request that reproduces it. */
  readonly faults: readonly string[]
  readonly connections: number
}

/** Number of characters that are shown of a wrong response. */
const SHOWN = 500

/** Sends requests to every route in turn, several at a time, and judges each response. */
export async function fuzz(options: FuzzOptions): Promise<Findings> {
  const { origin, document, known, seed, requests, concurrency } = options
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  const counts = new Map<string, Map<number, number>>()
  const faults: string[] = []
  const connections = new Set<number | undefined>()
  let next = 0

  async function one(index: number): Promise<void> {
    // Each request has random values of its own, so that it does not depend on the order of concurrent requests.
    const draw = new Draw(seed + index)
    const route = document.routes[index % document.routes.length]
    if (route === undefined) return
    let words = 0
    const word = () => `w${seed.toString(36)}-${index.toString(36)}-${words++}`
    const request = makeRequest(route, options.keyFor(route, draw), { draw, known, document, word })
    const fault = await exchange(origin, agent, request)
      .then((answer) => {
        // Another method leads to another operation, or to none.
        if (request.method === route.method) count(route, answer.status)
        learn(known, request, answer)
        const found = faultOf(request, answer)
        return found === undefined ? undefined : `${found}\n  ${answer.status} ${answer.text.slice(0, SHOWN)}`
      })
      .catch(String)
    if (fault !== undefined) faults.push(`${fault}\n  seed ${seed}, request ${index}: ${asCurl(origin, request)}`)
  }

  function count({ operationId }: Route, status: number): void {
    const statuses = counts.get(operationId) ?? new Map<number, number>()
    counts.set(operationId, statuses.set(status, (statuses.get(status) ?? 0) + 1))
  }

  agent.on('free', (socket: { localPort?: number }) => connections.add(socket.localPort))
  const workers = Array.from({ length: concurrency }, async () => {
    while (next < requests) await one(next++)
  })
  await Promise.all(workers)
  agent.destroy()
  return { counts, faults, connections: connections.size }
}

/** Members of a response that identify what the request has created, with their kind. */
const MADE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'pods.create': { pod_id: 'pod_id' },
  'inboxes.create': { inbox_id: 'inbox_id' },
  'domains.create': { domain_id: 'domain_id' },
  'webhooks.create': { webhook_id: 'webhook_id' },
  'lists.create': { entry: 'entry' },
  'drafts.create': { draft_id: 'draft_id' },
  'drafts.getAttachment': { download_url: 'draftFiles.token' },
  'apiKeys.create': { api_key_id: 'api_key_id' },
  'publicKeys.create': { api_key_id: 'publicKeys.api_key_id' },
  'messages.send': { message_id: 'message_id', thread_id: 'thread_id' },
  'messages.getRaw': { download_url: 'token' },
  'agent.signUp': { api_key: 'agent_key' },
}

/** What a request has created may be named, and deleted, by a later one. */
function learn(known: KnownThings, { method, route }: HttpRequest, { status, text }: HttpAnswer): void {
  const made = MADE[route.operationId]
  if (made === undefined || status !== 200 || method !== route.method) return
  const document: unknown = JSON.parse(text)
  if (typeof document !== 'object' || document === null) return
  for (const [member, value] of Object.entries(document)) {
    const kind = made[member]
    if (kind === undefined || typeof value !== 'string') continue
    known.spare(kind, kind.endsWith('token') ? decodeURIComponent(value.split('/').at(-1) ?? '') : value)
  }
}
