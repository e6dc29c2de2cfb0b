import { waitFor } from '@restante/testkit'
import pg from 'pg'
import type { Endpoints } from '../../../stack/endpoints.ts'
import { peerDomain } from '../../../stack/names.ts'
import type { System } from '../../../stack/system.ts'
import { isInstalled } from '../../../support/programs/programs.ts'
import { createTenant } from '../../../support/tenants.ts'
import type { Bench, BenchContext } from '../../harness/bench.ts'
import { createInboxes } from '../../load/inboxes.ts'
import { pidOf, type Usage, usageOf } from '../../load/processes.ts'
import { type SmtpSourceLoad, smtpSource } from '../../load/smtp-source.ts'

const MAILS = 50_000
const INBOXES = 20
/** The first of them warms everything up. */
const PORTIONS = 5
/** Garbage that is not collected yet. If a tenth of each mail stayed, it would be as much. */
const MOST_GROWTH_MB = 40

export const ingest: Bench = {
  name: 'ingest',
  about: 'mails of 10 KB a second through all steps of mail-ingest until they are stored, and whether its memory grows',
  async run(context) {
    if (!isInstalled('smtp-source')) throw new Error('smtp-source is missing: install Postfix')
    // The gateway owns the recipients, and is asked for them. Nothing else runs.
    const system = await context.startSystem({ services: ['gateway', 'mail-ingest'] })
    const recipients = await createInboxes(await createTenant(system.endpoints), INBOXES)
    const from = `human@${peerDomain(1, 1)}`
    const load = { port: system.endpoints.smtpPort, from, recipients, sessions: INBOXES, reuse: true }
    const portions: Portion[] = []
    for (let portion = 1; portion <= PORTIONS; portion++) {
      const mails = context.size(MAILS / PORTIONS)
      portions.push(await store(context, system, { ...load, mails }))
    }
    const [first, ...others] = portions
    const last = others.at(-1)
    if (!first || !last) throw new Error('nothing was measured')
    const stored = others.reduce((sum, { mails }) => sum + mails, 0)
    const seconds = (of: (portion: Portion) => number) => others.reduce((sum, portion) => sum + of(portion), 0)
    const cpu = (of: (portion: Portion) => Usage) => (of(last).cpuMs - of(first).cpuMs) / stored
    const [warm, end] = [first.mailIngest.residentMb, last.mailIngest.residentMb]
    return [
      { name: 'stored', value: stored / seconds((each) => each.stored), unit: '/s', goal: { atLeast: 400 } },
      { name: 'accepted meanwhile', value: stored / seconds((each) => each.accepted), unit: '/s' },
      { name: 'CPU of mail-ingest per mail', value: cpu((each) => each.mailIngest), unit: 'ms' },
      { name: 'CPU of gateway per mail', value: cpu((each) => each.gateway), unit: 'ms' },
      { name: `memory after ${first.mails} mails`, value: warm, unit: 'MB' },
      { name: `memory after ${first.mails + stored} mails`, value: end, unit: 'MB' },
      { name: 'growth of memory', value: end - warm, unit: 'MB', goal: { atMost: MOST_GROWTH_MB } },
    ]
  },
}

interface Portion {
  readonly mails: number
  /** Seconds until all were accepted, and until all were stored. */
  readonly accepted: number
  readonly stored: number
  /** At its end. */
  readonly mailIngest: Usage
  readonly gateway: Usage
}

/** Sends mails, and waits until all of them are stored. */
async function store(context: BenchContext, system: System, load: SmtpSourceLoad): Promise<Portion> {
  context.say(`${load.mails} mails ...`)
  const before = await stored(system.endpoints)
  const began = performance.now()
  const { accepted: mails, seconds: accepted } = await smtpSource(load)
  await untilProcessed(system.endpoints)
  const seconds = (performance.now() - began) / 1000
  const [mailIngest, gateway] = await Promise.all([
    usageOf(pidOf(system, 'mail-ingest')),
    usageOf(pidOf(system, 'gateway')),
  ])
  const found = (await stored(system.endpoints)) - before
  if (found !== mails) throw new Error(`of ${mails} mails, ${found} were stored`)
  return { mails, accepted, stored: seconds, mailIngest, gateway }
}

/** Waits until no accepted mail is in the queue of the pipeline. */
async function untilProcessed(endpoints: Endpoints): Promise<void> {
  await withClient(endpoints, (client) =>
    waitFor(
      async () => {
        const { rows } = await client.query<{ waits: boolean }>('select exists (select from inbound) as waits')
        return rows[0]?.waits === false
      },
      { what: 'the queue of the pipeline to be empty', timeout: 600_000, interval: 50 },
    ),
  )
}

/** How many mails are stored. */
async function stored(endpoints: Endpoints): Promise<number> {
  return withClient(endpoints, async (client) => {
    const { rows } = await client.query<{ stored: number }>('select count(*)::int as stored from messages')
    return rows[0]?.stored ?? 0
  })
}

async function withClient<T>({ databases }: Endpoints, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databases['mail-ingest'] })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
