import { setTimeout as sleep } from 'node:timers/promises'
import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { waitFor } from '@restante/testkit'
import type { Endpoints } from '../../stack/endpoints.ts'
import { peerDomain } from '../../stack/names.ts'
import { atRate } from '../../support/open-loop.ts'
import { openPeer } from '../../support/peers.ts'
import { createTenant, newUsername } from '../../support/tenants.ts'
import type { Bench, BenchContext } from '../harness/bench.ts'
import type { Figure, Goal } from '../harness/figures.ts'
import { Arrivals } from '../load/arrivals.ts'
import { createInboxes } from '../load/inboxes.ts'
import { type UsageByService, usageOf, usageOfAll } from '../load/processes.ts'
import { SmtpSenders } from '../load/smtp-senders.ts'
import { Program } from '../programs/program.ts'

/** Long enough for the garbage of the start to be collected. */
const REST_MS = 20_000
const MAILS = 500
const LARGE_MAILS = 5
const LARGE_BYTES = 20_000_000
const SENDS = 100

export const memory: Bench = {
  name: 'memory',
  about:
    'memory and CPU of each service at rest, compared with a bare Express; memory after mail in, large mail, mail out',
  async run(context) {
    const bare = context.cleanUp(Program.start('constant-server', {}))
    const system = await context.startSystem()
    await sleep(REST_MS)
    const rested = await usageOfAll(system)
    await sleep(REST_MS)
    const atRest = await usageOfAll(system)
    const { residentMb: bareMb } = await usageOf(bare.pid)
    await work(context, system.endpoints)
    const after = await usageOfAll(system)
    return [
      ...figures('at rest', (name) => atRest.get(name)?.residentMb, { atMost: 200 }).map((figure) => ({
        ...figure,
        reference: { what: 'bare Express', value: bareMb },
      })),
      ...figures('after load', (name) => after.get(name)?.residentMb),
      ...figures('peak under load', (name) => after.get(name)?.peakMb, { atMost: 512 }),
      ...SERVICES.map((name): Figure => {
        const used = cpuOf(atRest, name) - cpuOf(rested, name)
        return { name: `CPU of ${name} at rest`, value: (used / REST_MS) * 100, unit: '%' }
      }),
    ]
  },
}

function figures(when: string, of: (name: ServiceName) => number | undefined, goal?: Goal): Figure[] {
  return SERVICES.map((name) => {
    const value = of(name) ?? Number.NaN
    return { name: `${name} ${when}`, value, unit: 'MB', ...(goal && { goal }) }
  })
}

function cpuOf(usage: UsageByService, name: ServiceName): number {
  return usage.get(name)?.cpuMs ?? Number.NaN
}

/** Sends mail in and out, and resolves when all of it is processed. */
async function work(context: BenchContext, endpoints: Endpoints): Promise<void> {
  const tenant = await createTenant(endpoints)
  const inboxes = await createInboxes(tenant, 20)
  const arrivals = context.cleanUp(await Arrivals.open(endpoints, tenant))
  const senders = context.cleanUp(new SmtpSenders(endpoints.smtpPort, `human@${peerDomain(1, 1)}`))
  const peer = context.cleanUp(await openPeer(endpoints))
  const inbox = (index: number) => inboxes[index % inboxes.length] ?? ''
  const arrive = async (index: number, bytes?: number) => {
    await senders.send(inbox(index), `<${newUsername('m')}@sender.test>`, bytes)
  }
  context.say(`${MAILS} mails of 10 KB ...`)
  await atRate(100, context.size(MAILS), (index) => arrive(index))
  context.say(`${LARGE_MAILS} mails of 20 MB at once ...`)
  await atRate(100, LARGE_MAILS, (index) => arrive(index, LARGE_BYTES))
  await arrivals.count(context.size(MAILS) + LARGE_MAILS)
  context.say(`${SENDS} mails out ...`)
  const to = peer.address()
  await atRate(20, context.size(SENDS), async (index) => {
    await tenant.client.inboxes.messages.send(inbox(index), { to, subject: `Out ${index}`, text: 'Hello' })
  })
  const sent = () => peer.server.mailsTo(to).length >= context.size(SENDS)
  await waitFor(sent, { what: 'the last mail to leave', timeout: 60_000, interval: 50 })
}
