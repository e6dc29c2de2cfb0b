import {
  callerVariables,
  configurationOf,
  cursorVariables,
  encryptionVariables,
  loopbackExemption,
} from '@restante/kit'
import { confidential, env } from '@restante/service/configuration'
import { z } from 'zod'

const DEFAULT_PORT = 3100

const variables = z.object({
  AUTH_BASE: env
    .url()
    .refine((url) => /^https?:$/.test(new URL(url).protocol) && new URL(url).href === `${new URL(url).origin}/`, {
      error: 'must be an origin such as https://signin.example.com, without a path',
    })
    .describe('Origin of the sign-in pages and issuer of the ID tokens: https, and another origin than PUBLIC_URL'),
  AUTH_PORT: env.port(DEFAULT_PORT).describe('Port of the sign-in pages and the OpenID provider'),
  TRUSTED_PROXIES: env
    .networks()
    .describe(
      'Addresses and networks (CIDR) of the proxies in front of AUTH_PORT, from which X-Forwarded-For is trusted. Without it all clients of a proxy count as one client. AUTH_PEER_CONNECTIONS does not apply to them',
    ),
  AUTH_PEER_CONNECTIONS: env
    .integer(2_000)
    .describe(
      'Concurrent connections of one client address to AUTH_PORT. TRUSTED_PROXIES are exempt, so list every proxy there: all clients of any other proxy count as one',
    ),
  SUBJECT_SECRET: env
    .secret()
    .describe('Key of the names by which apps know an inbox; with another one every app sees strangers'),
  PREVIOUS_ENCRYPTION_KEYS: confidential(env.list()).describe(
    'Earlier values of ENCRYPTION_KEY: what they encrypted is still read, and encrypted anew when written',
  ),
  OPEN_CLIENTS: env.flag(false).describe('Let apps without a registration sign inboxes in, known by their URL'),
  SIGNED_APPROVAL: env.flag(true).describe('Let programs approve sign-ins with a registered public key'),
})

export const configuration = configurationOf('apps-signin', { peers: ['gateway'] })
  .with(callerVariables)
  .with(cursorVariables)
  .with(encryptionVariables)
  .with(loopbackExemption)
  .with({
    variables,
    check: ({ AUTH_BASE, PUBLIC_URL }) =>
      new URL(AUTH_BASE).origin === new URL(PUBLIC_URL).origin
        ? ['AUTH_BASE must be another origin than PUBLIC_URL: no cookie and no key of one may reach the other']
        : [],
    configure: (given) => ({
      authBase: new URL(given.AUTH_BASE).origin,
      authPort: given.AUTH_PORT,
      trustedProxies: given.TRUSTED_PROXIES,
      peerConnections: given.AUTH_PEER_CONNECTIONS,
      subjectSecret: given.SUBJECT_SECRET,
      previousEncryptionKeys: given.PREVIOUS_ENCRYPTION_KEYS,
      openClients: given.OPEN_CLIENTS,
      signedApproval: given.SIGNED_APPROVAL,
    }),
  })
