import { z } from 'zod'
import { defineInternal, INTERNAL, internalGroup } from '../definition/define.ts'

/** What a TLS server of a tracking host needs. The service that asks keeps it in memory only. */
export const trackingCertificate = z.object({
  chain: z.string().meta({ description: 'The certificate and those of its issuers, in PEM.' }),
  private_key: z.string().meta({ description: 'ECDSA, PKCS #8 in PEM.' }),
  not_after: z.iso.datetime(),
})
export type TrackingCertificate = z.infer<typeof trackingCertificate>

/** Tokens of challenges (RFC 8555 8.3): the base64url alphabet. */
export const CHALLENGE_TOKEN = /^[\w-]{16,128}$/

const FROM_EDGE = { ...INTERNAL, service: 'domains-dns', callers: ['gateway'] } as const
const host = z.string().min(1).max(253).meta({ description: 'Lower case, in A-labels.' })

/** Calls about the hosts of custom domains that serve the images that tell of opening (domains 4). */
export const certificateOperations = internalGroup({
  'domains-dns.findCertificate': defineInternal({
    ...FROM_EDGE,
    id: 'domains-dns.findCertificate',
    path: '/internal/certificates/find',
    summary: 'Read the certificate of a tracking host, with its private key; without `certificate` there is none',
    body: z.object({ host }),
    response: z.object({ certificate: trackingCertificate.optional() }),
  }),
  'domains-dns.findChallenge': defineInternal({
    ...FROM_EDGE,
    id: 'domains-dns.findChallenge',
    path: '/internal/certificates/challenge',
    summary: 'Read the answer to a running HTTP-01 challenge; without `key_authorization` there is no such challenge',
    body: z.object({ host, token: z.string().regex(CHALLENGE_TOKEN) }),
    response: z.object({ key_authorization: z.string().optional() }),
  }),
})
