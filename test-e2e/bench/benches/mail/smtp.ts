import { peerDomain } from '../../../stack/names.ts'
import { isInstalled } from '../../../support/programs/programs.ts'
import { createTenant } from '../../../support/tenants.ts'
import type { Bench, BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { createInboxes } from '../../load/inboxes.ts'
import { startHoldingPostfix } from '../../load/postfix.ts'
import { usageOfAll } from '../../load/processes.ts'
import { type SmtpSourceLoad, smtpSource } from '../../load/smtp-source.ts'

interface Mode {
  readonly name: string
  readonly reuse: boolean
  readonly mails: number
  /** Share of what Postfix accepts in the same run. */
  readonly goal?: number
}

const MODES: readonly Mode[] = [
  { name: '20 sessions kept open', reuse: true, mails: 6_000, goal: 0.5 },
  { name: 'a connection per mail', reuse: false, mails: 3_000 },
]

/** Inbound limits are counted, which the local stack does not do for loopback, and are never reached. */
const COUNTED = {
  RATE_LIMIT_EXEMPT_LOOPBACK: 'false',
  INBOUND_NETWORK_MAILS: '1000000',
  INBOUND_NETWORK_BYTES: '1000000000000',
  INBOUND_INBOX_MAILS: '1000000',
  INBOUND_ORGANIZATION_MAILS: '1000000',
}

export const smtp: Bench = {
  name: 'smtp',
  about:
    "mails of 10 KB durably accepted a second, compared with Postfix's smtpd on the same disk, both from smtp-source",
  async run(context) {
    if (!isInstalled('smtp-source')) throw new Error('smtp-source is missing: install Postfix')
    // Acceptance only, as Postfix does here. The pipeline has a bench of its own.
    const system = await context.startSystem({ environment: { ROLES: 'smtp,api', ...COUNTED } })
    const { endpoints } = system
    const recipients = await createInboxes(await createTenant(endpoints), 4)
    const postfix = await startHoldingPostfix(context, endpoints)
    const figures: Figure[] = []
    for (const mode of MODES) {
      const load = { from: `human@${peerDomain(1, 1)}`, recipients, sessions: 20, ...mode }
      await rate(context, { ...load, port: endpoints.smtpPort, mails: mode.mails / 10 }, 'warming up')
      const before = (await usageOfAll(system)).get('mail-ingest')
      const ours = await rate(context, { ...load, port: endpoints.smtpPort }, mode.name)
      const after = (await usageOfAll(system)).get('mail-ingest')
      const theirs = postfix && (await rate(context, { ...load, ...postfix }, `${mode.name}, Postfix`))
      const beside = theirs !== undefined && {
        reference: { what: 'Postfix smtpd', value: theirs },
        ...(mode.goal && { goal: { atLeast: mode.goal * theirs } }),
      }
      const cpu = ((after?.cpuMs ?? 0) - (before?.cpuMs ?? 0)) / context.size(mode.mails)
      figures.push(
        { name: `accepted, ${mode.name}`, value: ours, unit: '/s', ...beside },
        { name: `CPU of mail-ingest per mail, ${mode.name}`, value: cpu, unit: 'ms' },
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
