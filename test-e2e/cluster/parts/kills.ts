import { waitFor } from '@restante/testkit'
import { findInstallation } from '../harness/installation.ts'
import { components, kubectl, podsOf, rolledOut } from '../harness/kubernetes.ts'
import type { Part } from '../harness/scene.ts'
import { Traffic } from '../harness/traffic.ts'

/** Mails between one kill and the next. */
const BETWEEN = 20

/** All pods of one service after another are killed while mail flows. */
export const kills: Part = {
  name: 'kills of the pods of every service under load lose nothing',
  async run({ server }) {
    const traffic = await Traffic.open(await findInstallation(server), 'Killed')
    let killed = 0
    const flow = await traffic.during(async () => {
      for (const component of await components()) {
        await moreMails(traffic)
        const names = (await podsOf(component.name)).map(({ name }) => name)
        await kubectl('delete', 'pod', '--grace-period=0', '--force', ...names)
        killed += names.length
        await rolledOut(component)
      }
      await moreMails(traffic)
    })
    await traffic.close()
    return `${killed} pods killed; ${flow.mails} mails accepted and stored, ${flow.webhooks} reported, ${flow.replies} replies delivered; repeated by their senders: ${flow.smtpSetbacks.length} mails, ${flow.failedRequests.length} requests`
  },
}

/** Resolves when mail has flowed for a while. */
async function moreMails({ source }: Traffic): Promise<void> {
  const wanted = source.accepted.length + BETWEEN
  await waitFor(() => source.accepted.length >= wanted, { what: 'mail to flow', timeout: 120_000, interval: 100 })
}
