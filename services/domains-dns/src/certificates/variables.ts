import { together } from '@restante/kit'
import { confidential, env } from '@restante/service/configuration'
import { z } from 'zod'
import type { AcmeSettings } from './authority/settings.ts'

/** More than an installation needs. */
const MOST_ORDERS = 100_000

const variables = z.object({
  ACME_DIRECTORY: env
    .url()
    .refine((url) => url.startsWith('https:'), 'must be an https URL')
    .optional()
    .describe(
      'ACME directory (RFC 8555) of the authority that issues certificates for tracking hosts, whose terms of service this accepts; without it no tracking host becomes ready',
    ),
  TRACKING_TLS_BY_PROXY: env
    .flag()
    .describe(
      'A proxy in front serves tracking hosts with certificates of its own: they are ready as soon as their record is there, and ACME_DIRECTORY is not used',
    ),
  ACME_CONTACT: z.email('must be a mail address').optional().describe('Mail address of the account at the authority'),
  ACME_EAB_KID: env
    .string()
    .optional()
    .describe('Key identifier of the external account, for authorities that need one'),
  ACME_EAB_HMAC_KEY: confidential(env.string()).optional().describe('Its HMAC key, in base64url'),
  ACME_ORDERS_PER_HOUR: env
    .integer(90, MOST_ORDERS, 1)
    .describe(
      'Most certificates that are ordered in an hour, renewals included; public authorities limit this per account',
    ),
  ACME_CA_FILE: env
    .string()
    .optional()
    .describe('File of PEM certificates that the server of a private authority is accepted with'),
})
type Given = z.output<typeof variables>

/** The authority that certifies tracking hosts. */
export const acmeVariables = {
  variables,
  check: (given: Given) => [
    ...together(given, 'ACME_EAB_KID', 'ACME_EAB_HMAC_KEY'),
    ...(given.TRACKING_TLS_BY_PROXY && given.ACME_DIRECTORY !== undefined
      ? ['TRACKING_TLS_BY_PROXY must not be true when ACME_DIRECTORY is set']
      : []),
  ],
  configure: (given: Given) => ({
    certificates: { acme: settingsOf(given), byProxy: given.TRACKING_TLS_BY_PROXY },
  }),
}

function settingsOf(given: Given): AcmeSettings | undefined {
  const { ACME_DIRECTORY: directory, ACME_EAB_KID: kid, ACME_EAB_HMAC_KEY: hmacKey } = given
  if (directory === undefined) return undefined
  const externalAccount = kid === undefined || hmacKey === undefined ? undefined : { kid, hmacKey }
  const { ACME_CONTACT: contact, ACME_CA_FILE: caFile, ACME_ORDERS_PER_HOUR: ordersPerHour } = given
  return { directory, contact, externalAccount, caFile, ordersPerHour }
}
