import type { Queryable } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { nameOfTrackingHost } from '../records/expected.ts'
import type { CertificateStore } from './state/certificates.ts'
import { findChallenge } from './state/challenges.ts'

export type CertificateHandlers = Pick<
  InternalHandlers<'domains-dns'>,
  'domains-dns.findCertificate' | 'domains-dns.findChallenge'
>

/** What the edge asks to serve tracking hosts. */
export function certificateRoutes(db: Queryable, certificates: CertificateStore): CertificateHandlers {
  return {
    'domains-dns.findCertificate': async ({ body: { host } }) => {
      const name = nameOfTrackingHost(host)
      const certificate = name === undefined ? undefined : await certificates.find(db, name)
      return { ...(certificate !== undefined && { certificate }) }
    },
    'domains-dns.findChallenge': async ({ body: { host, token } }) => {
      const key_authorization = await findChallenge(db, host, token)
      return { ...(key_authorization !== undefined && { key_authorization }) }
    },
  }
}
