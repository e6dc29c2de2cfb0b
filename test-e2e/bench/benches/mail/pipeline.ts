import { SERVICES } from '@restante/contracts/vocabulary'
import { peerDomain } from '../../../stack/names.ts'
import { isInstalled } from '../../../support/programs/programs.ts'
import { createTenant } from '../../../support/tenants.ts'
import type { Bench } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { Arrivals, type Times } from '../../load/arrivals.ts'
import { createInboxes } from '../../load/inboxes.ts'
import { usageOfAll } from '../../load/processes.ts'
import { smtpSource } from '../../load/smtp-source.ts'

const MAILS = 3_000
const INBOXES = 20

export const pipeline: Bench = {
  name: 'pipeline',
  about: 'mails of 10 KB a second, from SMTP until the last of them is delivered on a stream and by webhook',
  async run(context) {
    if (!isInstalled('smtp-source')) throw new Error('smtp-source is missing: install Postfix')
    const system = await context.startSystem()
    const { endpoints } = system
    const tenant = await createTenant(endpoints)
    const recipients = await createInboxes(tenant, INBOXES)
    const arrivals = context.cleanUp(await Arrivals.open(endpoints, tenant))
    const load = {
      port: endpoints.smtpPort,
      from: `human@${peerDomain(1, 1)}`,
      recipients,
      sessions: INBOXES,
      reuse: true,
    }
    context.say('warming up ...')
    const { accepted: warm } = await smtpSource({ ...load, mails: context.size(MAILS) / 5 })
    await arrivals.count(warm)
    context.say(`${context.size(MAILS)} mails ...`)
    const before = await usageOfAll(system)
    const began = performance.now()
    const { accepted, seconds } = await smtpSource({ ...load, mails: context.size(MAILS) })
    await arrivals.count(warm + accepted)
    const rate = (delivered: Times) => (accepted * 1000) / (Math.max(...delivered.values()) - began)
    const [stream, webhook] = [rate(arrivals.stream), rate(arrivals.webhook)]
    const after = await usageOfAll(system)
    const cpu = SERVICES.map((name): Figure => {
      const used = (after.get(name)?.cpuMs ?? 0) - (before.get(name)?.cpuMs ?? 0)
      return { name: `CPU of ${name} per mail`, value: used / accepted, unit: 'ms' }
    })
    return [
      { name: 'delivered on stream and webhook', value: Math.min(stream, webhook), unit: '/s', goal: { atLeast: 250 } },
      { name: 'delivered on the stream', value: stream, unit: '/s' },
      { name: 'delivered by webhook', value: webhook, unit: '/s' },
      { name: 'accepted by SMTP', value: accepted / seconds, unit: '/s' },
      ...cpu,
    ]
  },
}
