import type { Database } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { KeyRing } from '@restante/service/secrets'
import type { Logger } from '@restante/service/telemetry'
import { countUnopenable, sealAgain } from './store.ts'

const EVERY_MS = 3_600_000
/** Keys per transaction. */
const BATCH = 100

interface KeyRotationOptions {
  readonly db: Database
  readonly ring: KeyRing
  readonly log: Logger
}

/** Seals what earlier encryption keys have sealed with the current one, so that the earlier ones can be removed. */
export class KeyRotation extends Periodic {
  constructor(options: KeyRotationOptions) {
    super({
      name: 'key rotation',
      everyMs: EVERY_MS,
      log: options.log,
      work: (stopping) => rotate(options, stopping),
    })
  }

  override async start(): Promise<void> {
    await super.start()
    this.notify()
  }
}

async function rotate({ db, ring, log }: KeyRotationOptions, stopping: AbortSignal): Promise<void> {
  let count = 0
  for (let batch = BATCH; batch === BATCH && !stopping.aborted; count += batch) {
    batch = await db.transaction((tx) => sealAgain(tx, ring, BATCH))
  }
  if (count > 0) log.info({ keys: count }, 'private keys sealed with the current encryption key')
  const unopenable = await countUnopenable(db, ring)
  if (unopenable === 0) return
  log.error({ keys: unopenable }, 'private keys of domains cannot be opened: PREVIOUS_ENCRYPTION_KEYS lacks their key')
}
