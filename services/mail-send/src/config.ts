import { parseSendLimit, type SendLimit } from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import {
  blobVariables,
  type ConfigOf,
  callerVariables,
  clamdVariables,
  configurationOf,
  cursorVariables,
  dnsVariables,
  encryptionVariables,
  type KitOf,
  operatorVariables,
  outboundVariables,
  redisVariables,
  returnPathVariables,
  sharedDomainVariables,
  systemSenderVariables,
  together,
} from '@restante/kit'
import { confidential, env } from '@restante/service/configuration'
import { z } from 'zod'
import { tlsOf } from './delivery/routes/smarthosts/smarthost.ts'
import type { Threshold } from './reputation/thresholds.ts'

const smarthost = env.string().transform((text, context) => {
  const [, host, port] = /^\[?([^\s\]]+?)\]?(?::(\d{1,5}))?$/.exec(text) ?? []
  if (host !== undefined && Number(port ?? 25) <= 65_535) return { host, port: Number(port ?? 25) }
  context.addIssue({ code: 'custom', message: 'must be host:port' })
  return z.NEVER
})

/** Limits such as `100/h,1000/d,10000/30d`: recipients in windows of hours or days. */
const sendLimits = env.list().transform((words, context): SendLimit[] =>
  words.map((word) => {
    const limit = parseSendLimit(word)
    if (limit) return limit
    context.addIssue({ code: 'custom', message: 'must be limits such as 100/h,1000/d,10000/30d' })
    return z.NEVER
  }),
)

const RATES = /^(\d{1,3}(?:\.\d{1,4})?)%,(\d{1,3}(?:\.\d{1,4})?)%$/

/** Two rates such as `5%,10%`: for a warning, and for a suspension. */
const rates = (usual: string) =>
  env
    .string()
    .default(usual)
    .transform((text, context): Threshold => {
      const [, warn, suspend] = RATES.exec(text) ?? []
      if (warn !== undefined && Number(warn) > 0 && Number(warn) <= Number(suspend)) {
        return { warn: Number(warn) / 100, suspend: Number(suspend) / 100 }
      }
      context.addIssue({ code: 'custom', message: 'must be two rising rates such as 5%,10%' })
      return z.NEVER
    })

const day = env.string().transform((text, context) => {
  const at = new Date(`${text}T00:00:00Z`)
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(at.getTime())) return at
  context.addIssue({ code: 'custom', message: 'must be a day such as 2026-12-01' })
  return z.NEVER
})

const variables = z.object({
  SEND_LIMIT_ORGANIZATION: sendLimits.describe(
    'Most recipients that one organization mails in an hour, a day or several, such as 100/h,1000/d,10000/30d; default: no limit',
  ),
  SEND_LIMIT_POD: sendLimits.describe('The same for one pod'),
  SEND_LIMIT_INBOX: sendLimits.describe('The same for one inbox'),
  NEW_RECIPIENT_RAMP: sendLimits.describe(
    'Most recipients never written to before that an agent mails within a time after its human was verified, such as 3/1h,5/1d,10/7d; default: no limit',
  ),

  REPUTATION: env
    .choice(['suspend', 'warn', 'off'], 'suspend')
    .describe('Whether organizations are suspended for their rates of bounces and complaints, or only warned about'),
  REPUTATION_MINIMUM: env
    .integer(1_000, 1_000_000_000, 1)
    .describe('Recipients of an organization within 24 hours below which its rates are not judged'),
  REPUTATION_BOUNCES: rates('5%,10%').describe(
    'Rate of bounces within 24 hours from which an organization is warned about, and from which it is suspended',
  ),
  REPUTATION_COMPLAINTS: rates('0.5%,1%').describe('The same for complaints'),
  REPUTATION_EVERY: env.duration('30s').describe('Time between two looks at the rates'),

  DKIM_SELECTOR: env
    .string()
    .optional()
    .describe('Selector of the key that signs for DEFAULT_DOMAIN and SHARED_DOMAINS'),
  DKIM_KEY_FILE: env
    .string()
    .optional()
    .describe('PEM file of the private key (RSA) for DKIM_SELECTOR; without both, mail is not signed'),
  DKIM_ED25519_SELECTOR: env
    .string()
    .optional()
    .describe('Selector of a second key that signs beside DKIM_SELECTOR (RFC 8463)'),
  DKIM_ED25519_KEY_FILE: env
    .string()
    .optional()
    .describe('PEM file of the private key (Ed25519) for DKIM_ED25519_SELECTOR'),

  LINK_SECRET: env.secret().describe('Key that signs download links of attachments of drafts'),
  ATTACHMENT_TIMEOUT: env
    .duration(`${LIMITS.send.fetchTimeout}ms`)
    .describe('Time limit for fetching one attachment URL, including redirects'),

  SMARTHOST: smarthost
    .optional()
    .describe('host:port of a relay for all external mail; without it mail is sent to the MX hosts'),
  SMARTHOST_TLS: env
    .choice(['auto', 'opportunistic', 'required', 'implicit', 'none'], 'auto')
    .describe('auto: required with a login, opportunistic without; required and implicit verify the certificate'),
  SMARTHOST_USER: env.string().optional().describe('SMTP AUTH user at the smarthost'),
  SMARTHOST_PASSWORD: confidential(env.string()).optional().describe('Password at the smarthost'),
  SENDER_ROUTES_FILE: env
    .string()
    .optional()
    .describe('JSON file that names a smarthost for the mail of each of some sending domains; others take the default'),
  MX_PORT: env.port(25).describe('Port of MX hosts'),
  MX_ALLOW_LOCAL: env
    .flag()
    .describe('Deliver to MX hosts on loopback and private addresses. Not on a public installation'),
  MTA_STS: env
    .choice(['on', 'off'], 'on')
    .describe('Whether MTA-STS policies of domains are obeyed; does not apply to a smarthost'),
  DANE: env
    .choice(['auto', 'on', 'off'], 'auto')
    .describe(
      'Whether TLSA records of MX hosts are obeyed; on: DNS_SERVERS validate DNSSEC and are reached safely; auto: on where they are on loopback',
    ),
  EHLO_NAME: env.string().optional().describe('Name of this server in EHLO; default mail.<DEFAULT_DOMAIN>'),
  DELIVERY_CONCURRENCY: env
    .integer(20, 1_000)
    .describe(
      'Concurrent deliveries of this process to external servers that begin with the send, and as many from the queue',
    ),
  DELIVERY_PER_DESTINATION: env
    .integer(5, 1_000)
    .describe('Concurrent deliveries of this process to one domain; does not apply to a smarthost'),
  DELIVERY_SLOW_CONCURRENCY: env
    .integer(50, 1_000, 1)
    .describe(
      'Further concurrent deliveries to domains that were slow, or could not be reached, at the last attempt; and as many whose session with another domain lasts longer than 5 s',
    ),
  DELIVERY_PER_MINUTE: env
    .integer(0, 1_000_000)
    .describe(
      'Messages of this process to one domain in a minute, each recipient counted; 0: any number. Not with a smarthost',
    ),
  WARM_UP_FROM: day
    .optional()
    .describe(
      'First day of a new source address (2026-12-01, UTC): its daily volume is limited, and grows; not with a smarthost',
    ),
  WARM_UP_START: env.integer(200, 1_000_000, 1).describe('Recipients on the first day of the warm-up'),
  WARM_UP_DOUBLING: env.duration('3d').describe('In this time the daily volume of the warm-up doubles'),
  DELIVERY_CONNECT_TIMEOUT: env.duration('20s').describe('Time limit for establishing one connection'),
  DELIVERY_ANSWER_TIMEOUT: env.duration('2m').describe('Longest silence of a server before the session is given up'),
  RETRY_FIRST: env
    .duration('1m')
    .describe('Wait before the first retry of a delivery; each further wait is twice as long'),
  RETRY_MOST: env.duration('4h').describe('Longest wait between two retries of a delivery'),
  RETRY_FOR: env
    .duration(`${LIMITS.delivery.retriedFor / 3_600_000}h`)
    .describe('How long a delivery is retried; then the message bounces'),
})
type Given = z.output<typeof variables>

/** The keys that sign, the one that every verifier knows first. */
function dkimOf(given: Given) {
  const keys = [
    { type: 'rsa', selector: given.DKIM_SELECTOR, keyFile: given.DKIM_KEY_FILE },
    { type: 'ed25519', selector: given.DKIM_ED25519_SELECTOR, keyFile: given.DKIM_ED25519_KEY_FILE },
  ] as const
  return keys.flatMap(({ type, selector, keyFile }) =>
    selector === undefined || keyFile === undefined ? [] : [{ type, selector, keyFile }],
  )
}

/** Many verifiers know RSA only, so an Ed25519 key is never the only one; each key has its own record in DNS. */
function secondKeyProblems({ DKIM_SELECTOR: first, DKIM_ED25519_SELECTOR: second }: Given): string[] {
  if (second === undefined) return []
  if (first === undefined) return ['DKIM_ED25519_SELECTOR needs DKIM_SELECTOR as well']
  return first.toLowerCase() === second.toLowerCase() ? ['DKIM_ED25519_SELECTOR must differ from DKIM_SELECTOR'] : []
}

/** How mail is delivered to the outside. */
function deliveryOf(given: Given, defaultDomain: string, dnsServers: readonly string[]) {
  const ehloName = given.EHLO_NAME ?? `mail.${defaultDomain}`
  return {
    ehloName,
    concurrency: given.DELIVERY_CONCURRENCY,
    perDestination: given.DELIVERY_PER_DESTINATION,
    slowConcurrency: given.DELIVERY_SLOW_CONCURRENCY,
    perMinute: given.DELIVERY_PER_MINUTE === 0 ? undefined : given.DELIVERY_PER_MINUTE,
    warmUp: given.WARM_UP_FROM
      ? { source: ehloName, from: given.WARM_UP_FROM, start: given.WARM_UP_START, doublingMs: given.WARM_UP_DOUBLING }
      : undefined,
    timeouts: { connectMs: given.DELIVERY_CONNECT_TIMEOUT, answerMs: given.DELIVERY_ANSWER_TIMEOUT },
    smarthost: given.SMARTHOST && {
      ...given.SMARTHOST,
      // Beside the routes of sending domains it leaves them the other workers.
      concurrency: Math.ceil(given.DELIVERY_CONCURRENCY / 2),
      tls: tlsOf(given.SMARTHOST_TLS, given.SMARTHOST_USER !== undefined),
      credentials:
        given.SMARTHOST_USER !== undefined && given.SMARTHOST_PASSWORD !== undefined
          ? { user: given.SMARTHOST_USER, pass: given.SMARTHOST_PASSWORD }
          : undefined,
    },
    senderRoutesFile: given.SENDER_ROUTES_FILE,
    dane: given.DANE,
    mtaSts: given.MTA_STS === 'on',
    mxHosts: {
      port: given.MX_PORT,
      allowLocal: given.MX_ALLOW_LOCAL,
      dnsServers,
      connectMs: given.DELIVERY_CONNECT_TIMEOUT,
    },
    retry: { firstMs: given.RETRY_FIRST, longestMs: given.RETRY_MOST, giveUpAfterMs: given.RETRY_FOR },
  }
}

export const configuration = configurationOf('mail-send', {
  peers: ['gateway', 'mail-ingest', 'domains-dns', 'calendar', 'metrics'],
})
  .with(callerVariables)
  .with(cursorVariables)
  .with(redisVariables)
  .with(blobVariables)
  .with(encryptionVariables)
  .with(sharedDomainVariables)
  .with(systemSenderVariables)
  .with(returnPathVariables)
  .with(operatorVariables)
  .with(clamdVariables)
  .with(outboundVariables)
  .with(dnsVariables)
  .with({
    variables,
    check: (given) => [
      ...together(given, 'DKIM_SELECTOR', 'DKIM_KEY_FILE'),
      ...together(given, 'DKIM_ED25519_SELECTOR', 'DKIM_ED25519_KEY_FILE'),
      ...secondKeyProblems(given),
      ...together(given, 'SMARTHOST_USER', 'SMARTHOST_PASSWORD'),
    ],
    configure: (given, { defaultDomain, dnsServers }) => ({
      dkim: dkimOf(given),
      linkSecret: given.LINK_SECRET,
      sendLimits: {
        organization: given.SEND_LIMIT_ORGANIZATION,
        pod: given.SEND_LIMIT_POD,
        inbox: given.SEND_LIMIT_INBOX,
      },
      reputation:
        given.REPUTATION === 'off'
          ? undefined
          : {
              suspends: given.REPUTATION === 'suspend',
              minimum: given.REPUTATION_MINIMUM,
              thresholds: { bounce: given.REPUTATION_BOUNCES, complaint: given.REPUTATION_COMPLAINTS },
              everyMs: given.REPUTATION_EVERY,
            },
      newRecipientRamp: given.NEW_RECIPIENT_RAMP,
      attachmentTimeoutMs: given.ATTACHMENT_TIMEOUT,
      delivery: deliveryOf(given, defaultDomain, dnsServers),
    }),
  })
export type Config = ConfigOf<typeof configuration>
export type SendKit = KitOf<typeof configuration>
