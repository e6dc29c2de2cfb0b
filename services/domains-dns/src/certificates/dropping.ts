import type { Tx } from '@restante/service/database'
import { trackingHostOf } from '../records/expected.ts'
import { findByUid } from '../registrations/store.ts'
import type { CertificateStore, DroppedCertificate } from './state/certificates.ts'
import { removeChallenges } from './state/challenges.ts'
import { hasOther } from './state/registrations.ts'
import { addRevocation } from './state/revocations.ts'
import type { CertificateSchedule } from './timers.ts'

export interface DroppingOptions {
  readonly certificates: CertificateStore
  readonly timers: CertificateSchedule
}

/** Ends certificates that nobody needs any more. */
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
    // Two registrations of a name that end at the same time wait here for each other: the later one sees itself alone.
    await this.#options.certificates.lock(tx, domain.name)
    if (!(await hasOther(tx, domain.name, uid))) await this.dropAll(tx, domain.name)
  }

  /** Deletes the certificate of a name, and has it revoked. */
  async dropAll(tx: Tx, name: string): Promise<void> {
    const { certificates, timers } = this.#options
    const dropped = await certificates.delete(tx, name)
    await removeChallenges(tx, trackingHostOf(name))
    // An attempt that is just being concluded waits for this transaction, and then finds no registration.
    await timers.cancelIdle(tx, 'certificate', [name])
    if (dropped !== undefined) await this.revoke(tx, name, dropped)
  }

  /** Has a certificate revoked whose key is not kept. */
  async revoke(tx: Tx, name: string, dropped: DroppedCertificate): Promise<void> {
    const id = await addRevocation(tx, name, dropped)
    await this.#options.timers.schedule(tx, { kind: 'certificate-revocation', key: id, payload: {} })
  }
}
