import { type InternalRequestOf, internalOperations } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import { hashedUuid, type Queryable, sql, type Tx } from '@restante/service/database'
import { append, type LogEntry, NO_EVENT } from './store.ts'

/** Identifies one take-over of one organization, as the gateway numbers it. */
export type TakeOver = InternalRequestOf<'websocket-fanout.endStreams'>

const TAKE_OVERS = sql<Pick<LogEntry, 'payload'>>(`select payload from stream_log where kind = 'taken_over'`)

/**
 * Announces a take-over to every instance, through the log: what was appended after this entry reaches no stream of an
 * earlier key. The call of the gateway and the event name the same entry, so repetitions have no effect.
 */
export async function recordTakeOver(tx: Tx, { organization_id, take_overs }: TakeOver): Promise<void> {
  // The gateway also asks whether this service is there at all, with the number that is in force.
  if (take_overs === 0) return
  const payload = JSON.stringify({ organization_id, take_overs })
  await append(tx, [{ ...NO_EVENT, event_id: hashedUuid(payload), kind: 'taken_over', organization_id, payload }])
}

/** The take-over that an entry of kind `taken_over` announces. */
export function readTakeOver({ payload }: Pick<LogEntry, 'payload'>): TakeOver {
  return internalOperations['websocket-fanout.endStreams'].body.parse(JSON.parse(payload))
}

interface Noted {
  readonly number: number
  /** When it is forgotten, on the monotonic clock. */
  readonly until: number
}

/**
 * The take-overs of a day, as the log keeps their entries: far longer than a request can be on its way that was admitted
 * before one. Older cursors and streams need none: a cursor is sealed with the number of its time, and the entry itself has
 * ended the streams. An instance knows of each as soon as it has read its entry.
 */
export class TakeOvers {
  /** By organization, the one that is forgotten first in front. */
  readonly #latest = new Map<string, Noted>()

  /** Reads the entries that were appended before the log was followed. */
  async load(db: Queryable): Promise<void> {
    for (const entry of await db.query(TAKE_OVERS)) this.note(entry)
  }

  /** Takes note of an entry of kind `taken_over`. */
  note(entry: Pick<LogEntry, 'payload'>): void {
    const { organization_id: id, take_overs: number } = readTakeOver(entry)
    const now = performance.now()
    const latest = Math.max(number, this.#latest.get(id)?.number ?? 0)
    this.#latest.delete(id)
    this.#latest.set(id, { number: latest, until: now + LIMITS.stream.log })
    this.#forget(now)
  }

  #forget(now: number): void {
    for (const [id, { until }] of this.#latest) {
      if (until > now) return
      this.#latest.delete(id)
    }
  }

  /** Whether the organization was taken over since its caller was admitted. */
  isSuperseded(caller: { readonly organization_id: string; readonly take_overs?: number | undefined }): boolean {
    return (this.#latest.get(caller.organization_id)?.number ?? 0) > (caller.take_overs ?? 0)
  }
}
