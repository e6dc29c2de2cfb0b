import assert from 'node:assert/strict'
import { waitFor } from '@restante/testkit'
import { eventsIn } from '../../faults/harness/counts.ts'
import { ResumingStream } from '../../faults/harness/following.ts'
import { findInstallation } from '../harness/installation.ts'
import { components, expend, scale } from '../harness/kubernetes.ts'
import type { Part } from '../harness/scene.ts'
import { Traffic } from '../harness/traffic.ts'

/** Everything whose number of pods matters to work that is on its way. */
const SCALED = /^(mail-ingest.*|mail-send|webhooks-dispatcher|websocket-fanout)$/

/** Services get more pods and fewer while mail flows, and while a client follows the stream from cursor to cursor. */
export const scaling: Part = {
  name: 'scaling up and down under load loses nothing',
  async run({ server }) {
    const installation = await findInstallation(server)
    const traffic = await Traffic.open(installation, 'Scaled')
    const stream = new ResumingStream(installation, traffic.tenant.key).start()
    await waitFor(() => stream.follows, { what: 'the first cursor', timeout: 60_000 })
    const steps: string[] = []
    const flow = await traffic.during(async () => {
      for (const component of (await components()).filter(({ name }) => SCALED.test(name))) {
        // Otherwise the newest pods go first, which have no work and no streams yet.
        await expend(component)
        const numbers = component.replicas === 1 ? [3, 1] : [3, 1, component.replicas]
        for (const replicas of numbers) await scale(component, replicas)
        steps.push(`${component.name} ${[component.replicas, ...numbers].join('-')}`)
      }
    })
    const sent = traffic.source.accepted.map(({ id }) => id)
    await waitFor(() => sent.every((id) => eventsIn(stream.events).has(id)), {
      what: 'every event on the stream',
      timeout: 60_000,
      interval: 500,
    })
    await stream.stop()
    const ids = stream.events.map((event) => 'event_id' in event && event.event_id)
    assert.equal(new Set(ids).size, ids.length, 'an event was on the stream twice')
    assert.ok(stream.breaks > 0, 'the stream was never moved')
    await traffic.close()
    return `${steps.join(', ')}; ${flow.mails} mails, ${flow.webhooks} reported, ${flow.replies} replies; the stream resumed ${stream.breaks} times and had every event once`
  },
}
