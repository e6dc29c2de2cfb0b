import { z } from 'zod'
import { defineInternal, INTERNAL, internalGroup } from './define.ts'

/** The key that signs mail of a registered domain. The service that asks keeps it in memory only. */
export const signingKey = z.object({
  domain: z.string().meta({ description: '`d=` of the signature: lower case, in ASCII.' }),
  selector: z.string(),
  private_key: z.string().meta({ description: 'RSA, PKCS #8 in PEM.' }),
})
export type SigningKey = z.infer<typeof signingKey>

/** Calls to the owner of custom domains. */
export const domainsInternalOperations = internalGroup({
  /** The pair is one per registration and never changes (domains 3), so an answer may be kept. */
  'domains-dns.getSigningKey': defineInternal({
    ...INTERNAL,
    id: 'domains-dns.getSigningKey',
    path: '/internal/domains/signing-key',
    service: 'domains-dns',
    callers: ['mail-send'],
    summary: 'Read the private key that signs for a registration; without `key` it is deleted or may not send',
    body: z.object({ domain_uid: z.guid() }),
    response: z.object({ key: signingKey.optional() }),
  }),
})
