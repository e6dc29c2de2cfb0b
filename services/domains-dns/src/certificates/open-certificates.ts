import type { Timers } from '@restante/jobs'
import type { KitOf } from '@restante/kit'
import type { Tx } from '@restante/service/database'
import type { KeyRing } from '@restante/service/secrets'
import type { configuration } from '../config.ts'
import type { DomainRow } from '../registrations/store.ts'
import { type ApplyOptions, applyChanges } from '../status/apply-changes.ts'
import type { DomainTimers } from '../timers/kinds.ts'
import { AccountStore } from './authority/account-store.ts'
import { Authority } from './authority/authority.ts'
import type { AcmeSettings } from './authority/settings.ts'
import { Dropping } from './dropping.ts'
import { Ordering } from './ordering.ts'
import { Revoking } from './revoking.ts'
import { type CertificateHandlers, certificateRoutes } from './routes.ts'
import { CertificateStore } from './state/certificates.ts'
import { challengeStore } from './state/challenges.ts'
import { wantsCertificate } from './state/registrations.ts'
import { CertificateSweeper } from './sweeper.ts'

export interface CertificatesOptions {
  readonly kit: Pick<KitOf<typeof configuration>, 'db' | 'log' | 'use'>
  readonly timers: Timers<DomainTimers>
  /** Seals private keys. */
  readonly ring: KeyRing
  readonly applying: ApplyOptions
}

/** Hosts that a proxy certifies have no end that is known here. */
const BY_PROXY = new Date('9999-12-31T00:00:00Z')

/** The certificates of tracking hosts, as the rest of the service sees them. */
export interface Certificates {
  readonly handlers: CertificateHandlers
  /**
   * In the transaction of a check, with the registration as the check leaves it: orders what is missing. A host whose
   * certificate was a proxy's or a former authority's is not ready any more.
   */
  readonly checked: (tx: Tx, row: DomainRow) => Promise<void>
  /**
   * In the transaction that deletes a registration, before its row goes, or that switches tracking off: the key and the
   * certificate go with it, unless another registration of the name needs them, and the revocation follows by itself.
   */
  readonly drop: (tx: Tx, uid: string) => Promise<void>
}

/**
 * Composes the certificates of tracking hosts.
 * @param config without `acme` nothing is ordered; what is there is still served. Then no tracking host becomes ready
 * unless a proxy has certificates of its own.
 */
export function openCertificates(
  options: CertificatesOptions,
  { acme, byProxy }: { readonly acme: AcmeSettings | undefined; readonly byProxy: boolean },
): Certificates {
  const { kit, timers, ring, applying } = options
  const { db, log } = kit
  const certificates = new CertificateStore(ring)
  const dropping = new Dropping({ certificates, timers })
  if (acme !== undefined) {
    const accounts = new AccountStore(db, ring)
    const authority = new Authority({ settings: acme, accounts, challenges: challengeStore(db) })
    const { ordersPerHour } = acme
    new Ordering({ db, log, authority, certificates, dropping, applying, ordersPerHour }).register(timers)
    new Revoking({ db, log, authority }).register(timers)
    kit.use(new CertificateSweeper({ db, log, timers, certificates, accounts }))
  }
  return {
    handlers: certificateRoutes(db, certificates),
    async checked(tx, row) {
      if (!wantsCertificate(row)) return
      const now = new Date()
      const until = byProxy ? BY_PROXY : stillCertified(row, now)
      if (until?.getTime() !== row.certified_until?.getTime())
        await applyChanges(tx, applying, row, { certified_until: until }, now)
      if (acme === undefined || until !== null) return
      await timers.scheduleIfMissing(tx, { kind: 'certificate', key: row.name, payload: {} })
      // One that another registration of the name has is installed by the next step, which waits for the renewal.
      if (await certificates.has(tx, row.name)) await timers.advance(tx, 'certificate', [row.name])
    },
    drop: (tx, uid) => dropping.drop(tx, uid),
  }
}

/** Until when a host is certified; null when that is over, or was by a proxy that is not in use any more. */
function stillCertified({ certified_until: until }: DomainRow, now: Date): Date | null {
  return until !== null && until > now && until < BY_PROXY ? until : null
}
