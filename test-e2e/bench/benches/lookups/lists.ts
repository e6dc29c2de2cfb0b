import { waitFor } from '@restante/testkit'
import pg from 'pg'
import type { System } from '../../../stack/system.ts'
import { createTenant, type Tenant } from '../../../support/tenants.ts'
import type { Bench } from '../../harness/bench.ts'
import { summarize } from '../../harness/statistics.ts'
import { createInboxes } from '../../load/inboxes.ts'
import { fillLists, LISTED } from '../../load/list-entries.ts'
import { usageOf } from '../../load/processes.ts'
import { SmtpSenders } from '../../load/smtp-senders.ts'

const ENTRIES = 100_000
const RECIPIENTS = 50
const SENDS = 400
const MAILS = 1_500

/** Milliseconds. */
interface Measured {
  /** A send that is refused by its lists. */
  readonly judged: { readonly p50: number; readonly p99: number }
  /** A send that is refused one step earlier: for one recipient too many. */
  readonly before: { readonly p50: number; readonly p99: number }
  /** CPU of mail-ingest for a received mail. */
  readonly inbound: number
}

export const lists: Bench = {
  name: 'lists',
  about: 'a send to 50 recipients and a received mail, judged by lists with 100,000 entries',
  async run(context) {
    const system = await context.startSystem()
    const { endpoints } = system
    const tenant = await createTenant(endpoints)
    const [inbox = ''] = await createInboxes(tenant, 1)
    const senders = new SmtpSenders(endpoints.smtpPort, 'sender@outside.example')
    context.cleanUp({ stop: () => senders.stop() })
    const measure = async (entries: number): Promise<Measured> => {
      context.say(`${entries} entries ...`)
      await fillLists(endpoints, tenant.id, entries)
      return {
        ...(await judgeSends(tenant, inbox, context.size(SENDS))),
        inbound: await receive(system, senders, inbox, context.size(MAILS)),
      }
    }
    await measure(1)
    const short = await measure(1)
    const long = await measure(context.size(ENTRIES))
    return [
      {
        name: 'judging 50 recipients, p50',
        value: long.judged.p50 - long.before.p50,
        unit: 'ms',
        reference: { what: 'one entry', value: short.judged.p50 - short.before.p50 },
        goal: { atMost: 5 },
      },
      {
        name: 'a send refused by its lists, p99',
        value: long.judged.p99,
        unit: 'ms',
        reference: { what: 'one entry', value: short.judged.p99 },
      },
      {
        name: 'CPU of mail-ingest per received mail',
        value: long.inbound,
        unit: 'ms',
        reference: { what: 'one entry', value: short.inbound },
      },
      {
        name: 'added to a received mail by 100,000 entries',
        value: long.inbound - short.inbound,
        unit: 'ms',
        goal: { atMost: 1 },
      },
    ]
  },
}

/** Both kinds of sends take turns, so that what else happens on the machine meets both. */
async function judgeSends(tenant: Tenant, inbox: string, sends: number) {
  const to = Array.from({ length: RECIPIENTS - 1 }, (_, at) => `human-${at}@outside.example`)
  const [judged, before]: [number[], number[]] = [[], []]
  for (let at = 0; at < sends; at++) {
    judged.push(await refused(tenant, inbox, [...to, LISTED], 403))
    before.push(await refused(tenant, inbox, [...to, LISTED, 'one-more@outside.example'], 400))
  }
  return { judged: summarize(judged), before: summarize(before) }
}

async function refused(tenant: Tenant, inbox: string, to: readonly string[], status: number): Promise<number> {
  const began = performance.now()
  const error: unknown = await tenant.client.inboxes.messages
    .send(inbox, { to: [...to], subject: 'Lists', text: 'Judged.' })
    .then(
      () => undefined,
      (reason: unknown) => reason,
    )
  const took = performance.now() - began
  if (typeof error === 'object' && error !== null && 'statusCode' in error && error.statusCode === status) return took
  throw new Error(`the send was not refused with ${status}: ${String(error)}`)
}

let received = 0

/** @returns CPU of mail-ingest per mail, from its arrival until it is in the mailbox. */
async function receive(system: System, senders: SmtpSenders, inbox: string, mails: number): Promise<number> {
  const { pid } = system.process('mail-ingest')
  if (pid === undefined) throw new Error('mail-ingest does not run')
  const client = new pg.Client({ connectionString: system.endpoints.databases['mail-ingest'] })
  await client.connect()
  try {
    const cpu = (await usageOf(pid)).cpuMs
    for (let sent = 0; sent < mails; sent++) await senders.send(inbox, `<lists-${++received}@outside.example>`)
    await waitFor(
      async () => {
        const { rows } = await client.query<{ stored: number }>('select count(*)::int as stored from messages')
        return (rows[0]?.stored ?? 0) >= received
      },
      { what: 'the last mail in its mailbox', timeout: 120_000 },
    )
    return ((await usageOf(pid)).cpuMs - cpu) / mails
  } finally {
    await client.end()
  }
}
