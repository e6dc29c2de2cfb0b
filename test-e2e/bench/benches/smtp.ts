import { peerDomain } from '../../stack/names.ts'
import { isInstalled } from '../../support/programs.ts'
import { createTenant } from '../../support/tenants.ts'
import type { Bench, BenchContext } from '../harness/bench.ts'
import type { Figure, Goal } from '../harness/figures.ts'
import { createInboxes } from '../load/inboxes.ts'
import { startHoldingPostfix } from '../load/postfix.ts'
import { usageOfAll } from '../load/processes.ts'
import { type SmtpSourceLoad, smtpSource } from '../load/smtp-source.ts'

interface Way {
  readonly name: string
  readonly reuse: boolean
  readonly mails: number
  readonly goal?: Goal
}

const WAYS: readonly Way[] = [
  { name: '20 sessions kept open', reuse: true, mails: 6_000, goal: { atLeast: 300 } },
  { name: 'a connection per mail', reuse: false, mails: 3_000 },
]

/** Mail is counted as anywhere else, and there is room for it: loopback is exempt in the local stack. */
const COUNTED = {
  RATE_LIMIT_EXEMPT_LOOPBACK: 'false',
  INBOUND_NETWORK_MAILS: '1000000',
  INBOUND_NETWORK_BYTES: '1000000000000',
  INBOUND_INBOX_MAILS: '1000000',
  INBOUND_ORGANIZATION_MAILS: '1000000',
}

export const smtp: Bench = {
  name: 'smtp',
  about: "mails of 10 KB durably accepted a second, beside Postfix's smtpd on the same disk, both from smtp-source",
  async run(context) {
    if (!isInstalled('smtp-source')) throw new Error('smtp-source is missing: install Postfix')
    // Accepting alone, as Postfix does here: the pipeline has a bench of its own.
    const system = await context.startSystem({ environment: { ROLES: 'smtp,api', ...COUNTED } })
    const { place } = system
    const recipients = await createInboxes(await createTenant(place), 4)
    const postfix = await startHoldingPostfix(context, place)
    const figures: Figure[] = []
    for (const way of WAYS) {
      const load = { from: `human@${peerDomain(1, 1)}`, recipients, sessions: 20, ...way }
      await rate(context, { ...load, port: place.smtpPort, mails: way.mails / 10 }, 'warming up')
      const before = (await usageOfAll(system)).get('mail-ingest')
      const ours = await rate(context, { ...load, port: place.smtpPort }, way.name)
      const after = (await usageOfAll(system)).get('mail-ingest')
      const theirs = postfix && (await rate(context, { ...load, ...postfix }, `${way.name}, Postfix`))
      const beside = theirs === undefined ? {} : { beside: { what: 'Postfix smtpd', value: theirs } }
      const cpu = ((after?.cpuMs ?? 0) - (before?.cpuMs ?? 0)) / context.size(way.mails)
      figures.push(
        { name: `accepted, ${way.name}`, value: ours, unit: '/s', ...beside, ...(way.goal && { goal: way.goal }) },
        { name: `CPU of mail-ingest per mail, ${way.name}`, value: cpu, unit: 'ms' },
      )
    }
    return figures
  },
}

async function rate(context: BenchContext, load: SmtpSourceLoad, what: string): Promise<number> {
  const mails = context.size(load.mails)
  context.say(`${mails} mails, ${what} ...`)
  const { accepted, seconds } = await smtpSource({ ...load, mails })
  return accepted / seconds
}
