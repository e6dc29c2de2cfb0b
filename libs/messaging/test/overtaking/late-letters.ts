import type { DomainEvent } from '@restante/contracts/events'
import { sql, type Tx } from '@restante/service/database'
import { Consumer, decodeEvent } from '../../src/index.ts'
import { recordOf } from '../../src/testing.ts'
import { type LetterConsumer, letters, type MessagingFixture, posted } from '../fixture.ts'

/** A letter that no attempt can handle. */
export const UNLUCKY = 13_000_000
/** Fresh letters have numbers from here on. */
export const FRESH = 1_000_000

const ADD_EFFECTS = sql<never, [numbers: readonly number[], text: string]>(
  `insert into effects (key, number, text) select 'box', number, $2 from unnest($1::int[]) as applied (number)`,
)

/** Less than the topic keeps. */
const BEHIND_MS = 600_000
const BOXES = 20

/** Writes letters as if a consumer had been stopped for ten minutes, numbered from 0. */
export async function postLate(fixture: MessagingFixture, count: number): Promise<void> {
  await write(
    fixture,
    Array.from({ length: count }, (_, i) => posted(`box-${i % BOXES}`, i)),
    Date.now() - BEHIND_MS,
  )
}

/** Writes letters to the topic itself. */
export async function write(fixture: MessagingFixture, events: readonly DomainEvent[], at = Date.now()): Promise<void> {
  const messages = events.map((event) => ({ ...recordOf(event), timestamp: String(at) }))
  await fixture.produce('letters', messages)
}

export interface OvertakingOptions {
  /** Holds the late letters up. */
  readonly giveWay?: (signal: AbortSignal) => Promise<() => void>
  /** Who applies the effects. */
  readonly by?: string
  readonly db?: MessagingFixture['db']
  /** Before the effect, in its transaction. */
  readonly before?: (numbers: readonly number[], tx: Tx) => Promise<void>
  readonly onEffect?: (numbers: readonly number[]) => void
}

/** A consumer whose fresh letters overtake late ones, as its service would run it, with short sessions. */
export function overtakingConsumer(
  { kafka, db: ownDb }: Pick<MessagingFixture, 'kafka' | 'db'>,
  { giveWay = async () => () => {}, by = '', db = ownDb, before, onEffect = () => {} }: OvertakingOptions,
): LetterConsumer {
  return new Consumer({
    kafka,
    db,
    service: 'mail-ingest',
    topic: letters,
    attempts: 2,
    sessionTimeoutMs: 6_000,
    heartbeatMs: 200,
    batch: {
      effectMany: async (tx, events) => {
        const numbers = events.map((event) => decodeEvent(letters, event).payload.number)
        if (numbers.includes(UNLUCKY)) throw new Error('unlucky')
        await before?.(numbers, tx)
        await tx.query(ADD_EFFECTS, numbers, by)
        tx.afterCommit(() => onEffect(numbers))
      },
    },
    overtaking: { giveWay },
  })
}

/** Holds late letters up until it is opened. */
export class Gate {
  readonly #opened = Promise.withResolvers<void>()

  readonly giveWay = async (signal: AbortSignal): Promise<() => void> => {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([this.#opened.promise, aborted])
    return () => {}
  }

  open(): void {
    this.#opened.resolve()
  }
}
