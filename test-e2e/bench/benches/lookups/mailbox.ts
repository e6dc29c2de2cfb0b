import path from 'node:path'
import type { Caller } from '@restante/contracts/access'
import { operations } from '@restante/contracts/operations'
import { callerOf, SmtpSession, waitFor } from '@restante/testkit'
import pg from 'pg'
import type { Endpoints } from '../../../stack/endpoints.ts'
import { peerDomain } from '../../../stack/names.ts'
import type { System } from '../../../stack/system.ts'
import { createTenant, newUsername, type Tenant } from '../../../support/tenants.ts'
import type { Bench, BenchContext } from '../../harness/bench.ts'
import type { Figure, Goal } from '../../harness/figures.ts'
import { corpus, SEARCHED } from '../../load/corpus.ts'
import { measureRound } from '../../load/http/round.ts'
import { createInboxes, scopesOf } from '../../load/inboxes.ts'
import { copyMessages } from '../../load/mailbox-copies.ts'
import { Plans } from '../../load/plans.ts'
import { pidOf } from '../../load/processes.ts'

const PATTERNS = 2_000
const INBOXES = 1_000
/** Share of the messages that one inbox holds. */
const LARGEST = 0.2
/** The smaller number shows how cost grows. */
const SIZES = [100_000, 1_000_000]
/** How long each request is repeated: some 300 times. */
const SECONDS = 4

interface Request {
  readonly name: string
  readonly operation: 'messages.list' | 'messages.search' | 'threads.list' | 'threads.search'
  /** Address of the inbox that is asked for; without it, the whole organization. */
  readonly inbox?: string
  readonly query?: string
  readonly goals: { readonly p50?: Goal; readonly p99: Goal }
}

export const mailbox: Bench = {
  name: 'mailbox',
  about: 'lists, filters and searches in an organization of 1,000,000 messages, and of 100,000',
  async run(context) {
    const system = await context.startSystem()
    const { endpoints } = system
    const tenant = await createTenant(endpoints)
    const inboxes = await prepare(context, endpoints, tenant)
    const figures: Figure[] = []
    let copied = 0
    for (const size of SIZES.map((full) => context.size(full))) {
      context.say(`${size} messages ...`)
      await copyMessages({ endpoints, ...inboxes, from: copied, to: size, share: LARGEST })
      copied = size
      const requests = requestsIn(inboxes)
      const measured = { system, tenant, messages: size }
      for (const request of requests) figures.push(...(await measure(context, request, measured)))
      await keepPlans(context, endpoints, tenant, requests, size)
    }
    return figures
  },
}

interface Inboxes {
  /** Whose messages are copied. */
  readonly pattern: string
  readonly largest: string
  readonly others: readonly string[]
}

/** Creates the inboxes, and receives the mails that are copied. */
async function prepare(context: BenchContext, endpoints: Endpoints, tenant: Tenant): Promise<Inboxes> {
  context.say(`${INBOXES} inboxes ...`)
  const [pattern = '', largest = '', ...others] = await createInboxes(tenant, INBOXES + 1)
  context.say(`${PATTERNS} mails, to be copied ...`)
  const session = await SmtpSession.open(endpoints.smtpPort)
  const from = `human@${peerDomain(1, 1)}`
  await session.command('EHLO sender.test')
  for (const { subject, text } of corpus(PATTERNS)) {
    await session.command(`MAIL FROM:<${from}>`)
    await session.command(`RCPT TO:<${pattern}>`)
    const header = [
      `From: Sender ${subject} <${from}>`,
      `To: ${pattern}`,
      `Subject: ${subject}`,
      `Message-ID: <${newUsername('m')}@sender.test>`,
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
    ]
    await session.data([...header, '', text].join('\r\n'))
  }
  await session.quit()
  await untilIndexed(endpoints)
  return { pattern, largest, others }
}

async function untilIndexed(endpoints: Endpoints): Promise<void> {
  const client = new pg.Client({ connectionString: endpoints.databases['mail-ingest'] })
  await client.connect()
  try {
    await waitFor(
      async () => {
        const { rows } = await client.query<{ done: boolean }>(
          `select (select count(*) from messages) >= ${PATTERNS} and not exists (select from unindexed_messages) as done`,
        )
        return rows[0]?.done
      },
      { what: 'the mails to be stored and indexed', timeout: 600_000, interval: 500 },
    )
  } finally {
    await client.end()
  }
}

function requestsIn({ largest, others: [small = ''] }: Inboxes): Request[] {
  const [list, filter] = [{ p99: { atMost: 25 } }, { p99: { atMost: 60 } }]
  const search = { p50: { atMost: 15 }, p99: { atMost: 80 } }
  const messages = { operation: 'messages.list', inbox: largest, goals: filter } as const
  const threads = { operation: 'threads.list', goals: filter } as const
  const found = { operation: 'threads.search', goals: search } as const
  const newest = { operation: 'messages.list', goals: { p99: { atMost: 10 } } } as const
  const day = new Date(Date.now() - 86_400_000).toISOString()
  const filters: Readonly<Record<string, string>> = {
    label: 'labels=unread',
    before: `before=${day}`,
    after: `after=${day}`,
  }
  return [
    { ...newest, name: 'newest 50 of the largest inbox', inbox: largest },
    { ...newest, name: 'newest 50 of another inbox', inbox: small },
    { ...threads, name: 'newest 50 threads of the organization', goals: list },
    ...Object.entries(filters).flatMap(([name, query]) => [
      { ...messages, name: `messages by ${name}`, query },
      { ...threads, name: `threads by ${name}`, query },
    ]),
    { ...messages, name: 'messages by sender', query: 'from=sender' },
    { ...messages, name: 'messages by recipient', query: 'to=restante' },
    { ...messages, name: 'messages by subject', query: 'subject=bafa' },
    { ...threads, name: 'threads by sender', query: 'senders=sender' },
    { ...threads, name: 'threads by recipient', query: 'recipients=restante' },
    { ...threads, name: 'threads by subject', query: 'subject=bafa' },
    // Of few, and of none: the first rows do not fill a page.
    { ...messages, name: 'messages by sender, few', query: 'from=bafa' },
    { ...messages, name: 'messages by label, none', query: 'labels=sent' },
    { ...threads, name: 'threads of the largest inbox by sender, few', inbox: largest, query: 'senders=bafa' },
    { ...threads, name: 'threads of the largest inbox by label, none', inbox: largest, query: 'labels=sent' },
    ...Object.entries(SEARCHED).map(([name, { word }]) => ({
      ...found,
      name: `search of threads, ${name} word`,
      query: `q=${encodeURIComponent(word)}`,
    })),
    {
      ...messages,
      name: 'search of messages, rare word',
      operation: 'messages.search',
      query: `q=${SEARCHED.rare.word}`,
      goals: search,
    },
    { ...found, name: 'search of threads, two words', query: 'q=ledger+voucher' },
    { ...found, name: 'search of threads, no match', query: 'q=xylophone' },
  ]
}

/** The request as a client makes it. */
function publicPath({ operation, inbox, query = '' }: Request): string {
  const scope = inbox === undefined ? '' : `/inboxes/${encodeURIComponent(inbox)}`
  return `/v0${scope}${operations[operation].path}?${query}`
}

/** Keeps the plan of each request's statements beside the figures. */
async function keepPlans(
  context: BenchContext,
  endpoints: Endpoints,
  tenant: Tenant,
  requests: readonly Request[],
  size: number,
): Promise<void> {
  const folder = path.join(context.folder, 'plans', String(size))
  const plans = await Plans.start(endpoints.databases['mail-ingest'], folder)
  try {
    // Connections that were ended are replaced by new ones at the first requests.
    await waitFor(async () => (await tenant.api.get('/v0/threads')).status === 200, {
      what: 'the services to reconnect',
    })
    for (const request of requests) await plans.keep(request.name, () => tenant.api.get(publicPath(request)))
  } finally {
    await plans.stop()
  }
  context.say(`plans: ${folder}`)
}

interface Measured {
  readonly system: System
  readonly tenant: Tenant
  readonly messages: number
}

/** Measures the service as the gateway calls it. */
async function measure(context: BenchContext, request: Request, measured: Measured): Promise<Figure[]> {
  const { system, tenant, messages } = measured
  const { name, operation, inbox, query = '', goals } = request
  const { status, body } = await tenant.api.get(publicPath(request))
  if (status !== 200) throw new Error(`${publicPath(request)} was answered ${status}: ${JSON.stringify(body)}`)
  const { MAIL_INGEST_URL: service = '', CALLER_KEY_MAIL_INGEST: secret = '' } = system.endpoints.operator
  const caller = callerOf({
    organization_id: tenant.id,
    ...(inbox !== undefined && (await inboxOf(measured, inbox))),
  })
  const { p50, p99 } = await measureRound(context, {
    url: `${service}${operations[operation].path}?${query}`,
    credentials: { service: 'mail-ingest', secret, operation, caller },
    pid: pidOf(system, 'mail-ingest'),
    connections: 1,
    seconds: SECONDS,
  })
  context.say(`${name}, ${messages}: ${body['count']} found, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
  return [
    { name: `${name} p50, ${messages}`, value: p50, unit: 'ms', ...(goals.p50 && { goal: goals.p50 }) },
    { name: `${name} p99, ${messages}`, value: p99, unit: 'ms', goal: goals.p99 },
  ]
}

/** What the gateway tells of an inbox that a request is about. */
async function inboxOf({ system, tenant }: Measured, address: string): Promise<Pick<Caller, 'pod_id' | 'inbox'>> {
  const scope = (await scopesOf(system.endpoints, tenant)).find((each) => each.address === address)
  if (!scope) throw new Error(`there is no inbox ${address}`)
  return { pod_id: scope.podId, inbox: { uid: scope.inboxUid, address, pod_id: scope.podId, paused: false } }
}
