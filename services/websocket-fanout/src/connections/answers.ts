import type { Caller } from '@restante/contracts/access'
import { ApiError, notFound } from '@restante/service/errors'
import { requireEventTypes } from '@restante/service/identity'
import { cursorScope, openCursor, requireInLog } from '../cursors/caller-cursors.ts'
import { type ClientFrame, readFrame } from '../subscriptions/frames.ts'
import type { Resolved } from '../subscriptions/resolve.ts'
import { keyOf, type Scope } from '../subscriptions/subscriptions.ts'
import type { Connection } from './connection.ts'
import { type ReplayDeps, replay } from './replay.ts'

/** Resolves the ids of a frame within what the caller may see, with one request for all of them. */
export type ResolveScopes = (
  caller: Caller,
  ids: { inboxIds: readonly string[]; podIds: readonly string[] },
) => Promise<Resolved>

export interface AnswersOptions extends ReplayDeps {
  readonly docsUrl: string
  readonly resolve: ResolveScopes
  /** Called when the subscriptions of a connection have changed. */
  readonly onSubscribed: (connection: Connection) => void
}

type Frame<Type extends ClientFrame['type']> = Extract<ClientFrame, { readonly type: Type }>
type Ids = Pick<Frame<'subscribe'>, 'inboxIds' | 'podIds'>

/** Answers the frames of clients (events 6.2). One frame of a connection is answered at a time. */
export class Answers {
  readonly #options: AnswersOptions

  constructor(options: AnswersOptions) {
    this.#options = options
  }

  /** Never rejects. The connection stays open after any error, so that the client can correct itself (events 6.3). */
  readonly answer = async (connection: Connection, text: string): Promise<void> => {
    try {
      const frame = readFrame(text)
      if (frame.type === 'foreign') connection.send({ message: 'Forbidden' })
      else if (frame.type === 'unsubscribe') await this.#unsubscribe(connection, frame)
      else await this.#subscribe(connection, frame)
    } catch (error) {
      const refusal = error instanceof ApiError ? error : new ApiError('internal_error', { cause: error })
      if (refusal.status >= 500) connection.log.error({ err: error }, 'frame failed')
      connection.send({ type: 'error', ...refusal.body(this.#options.docsUrl) })
    }
  }

  async #unsubscribe(connection: Connection, frame: Frame<'unsubscribe'>): Promise<void> {
    const scopes = await this.#known(connection.caller, frame)
    connection.subscriptions.remove(scopes, this.#options.position())
    this.#options.onSubscribed(connection)
    connection.send({ type: 'unsubscribed', organization_id: connection.caller.organization_id, ...frame.given })
  }

  async #subscribe(connection: Connection, frame: Frame<'subscribe'>): Promise<void> {
    const { caller } = connection
    const { cursors, position, onSubscribed } = this.#options
    if (frame.eventTypes) requireEventTypes(caller.credential, frame.eventTypes, 'stream')
    const after = await this.#resumedAfter(caller, frame.resumeFrom)
    const scopes = await this.#scopes(caller, frame)
    const subscribedAt = position()
    connection.subscriptions.add(scopes, frame.eventTypes, { subscribedAt, after: after ?? subscribedAt })
    if (frame.cursors) connection.cursorScope = cursorScope(caller)
    onSubscribed(connection)
    const cursor = frame.cursors && cursors.seal(cursorScope(caller), { position: after ?? subscribedAt })
    const echo = { organization_id: caller.organization_id, ...frame.given }
    connection.send({ type: 'subscribed', ...echo, ...(cursor !== false && { cursor }) })
    if (after === undefined) return
    const resumed = { scopes: scopes.map(keyOf), after, cursorScope: cursorScope(caller) }
    await replay(this.#options, connection, resumed)
  }

  /** The position from which a subscription resumes. @throws ApiError 400 at `resume_from` */
  async #resumedAfter(caller: Caller, cursor: string | undefined): Promise<bigint | undefined> {
    if (cursor === undefined) return undefined
    const place = openCursor(this.#options.cursors, caller, cursor, 'resume_from')
    requireInLog(place, await this.#options.reader.extent(), 'resume_from')
    return place.position
  }

  async #scopes(caller: Caller, { inboxIds, podIds }: Ids): Promise<readonly Scope[]> {
    if (!inboxIds && !podIds) return [{ kind: 'all' }]
    if (podIds && caller.credential.tier === 'inbox') {
      throw new ApiError('forbidden', { fix: 'A key of an inbox can name its own inbox only.' })
    }
    const { scopes, missing } = await this.#resolve(caller, { inboxIds, podIds })
    if (missing !== undefined) throw notFound(missing)
    return scopes
  }

  /** The scopes that `unsubscribe` names; scopes that do not exist (any more) are ignored one by one. */
  async #known(caller: Caller, { inboxIds, podIds }: Ids): Promise<readonly Scope[]> {
    if (!inboxIds && !podIds) return [{ kind: 'all' }]
    return (await this.#resolve(caller, { inboxIds, podIds })).scopes
  }

  /** One request at a time, since frames are answered in order: the rate limit of frames also bounds these requests. */
  #resolve(caller: Caller, { inboxIds = [], podIds = [] }: Ids): Promise<Resolved> {
    return this.#options.resolve(caller, { inboxIds, podIds })
  }
}
