import type { Schedule } from '@restante/jobs'
import type { Tx } from '@restante/service/database'
import { trackingHostOf } from '../records/expected.ts'
import { findByUid } from '../registrations/store.ts'
import type { DomainTimers } from '../timers/kinds.ts'
import type { CertificateStore, DroppedCertificate } from './state/certificates.ts'
import { removeChallenges } from './state/challenges.ts'
import { countRegistrations, hasOther } from './state/registrations.ts'
import { addRevocation } from './state/revocations.ts'

export interface DroppingOptions {
  readonly certificates: CertificateStore
  readonly timers: Schedule<DomainTimers>
}

/** Removes certificates that no registration needs, and schedules their revocation. */
export class Dropping {
  readonly #options: DroppingOptions

  constructor(options: DroppingOptions) {
    this.#options = options
  }

  /**
   * A registration ends, or switches tracking off: the certificate of its host goes with its key, unless another
   * registration of the name still needs it. In the transaction of that change, which holds the lock of the registration.
   */
  async drop(tx: Tx, uid: string): Promise<void> {
    const domain = await findByUid(tx, uid)
    if (!domain) return
    await this.#dropUnless(tx, domain.name, () => hasOther(tx, domain.name, uid))
  }

  /** Drops the certificate of a name that no registration needs. @returns whether it did. */
  dropUnneeded(tx: Tx, name: string): Promise<boolean> {
    return this.#dropUnless(tx, name, async () => (await countRegistrations(tx, name)).keeping > 0)
  }

  /** Two registrations of a name that end at the same time wait for each other: the later one finds that it was the last. */
  async #dropUnless(tx: Tx, name: string, isNeeded: () => Promise<boolean>): Promise<boolean> {
    const { certificates, timers } = this.#options
    await certificates.lock(tx, name)
    if (await isNeeded()) return false
    const dropped = await certificates.delete(tx, name)
    await removeChallenges(tx, trackingHostOf(name))
    // An attempt that is just being concluded waits for this transaction, and then finds no registration.
    await timers.cancelIdle(tx, 'certificate', [name])
    if (dropped !== undefined) await this.revoke(tx, name, dropped)
    return true
  }

  /** Has a certificate revoked whose key is not kept. */
  async revoke(tx: Tx, name: string, dropped: DroppedCertificate): Promise<void> {
    const id = await addRevocation(tx, name, dropped)
    await this.#options.timers.schedule(tx, { kind: 'certificate-revocation', key: id, payload: {} })
  }
}
