import { randomName, sendMail, waitFor } from '@restante/testkit'
import { AgentMailClient } from 'agentmail'
import { output } from '../../support/programs/programs.ts'
import { keyIn } from '../../support/tenants.ts'
import { findInstallation } from '../harness/installation.ts'
import { RELEASE } from '../harness/kubernetes.ts'
import { OUTSIDE_DOMAIN, OUTSIDE_HOST } from '../harness/outside.ts'
import { follow, readInstructions } from '../harness/readme.ts'
import type { Part } from '../harness/scene.ts'
import { expectNothingLeft, startEngines } from './install.ts'

/** The README's commands in an empty namespace, in their order and unchanged. */
export const walk: Part = {
  name: "the commands of the chart's README install, check and remove it in an empty namespace",
  async run({ server, current }) {
    const { secrets, install, uninstall } = await readInstructions()
    await output('kubectl', ['delete', 'namespace', RELEASE, '--ignore-not-found'])
    await startEngines()
    const printed = await follow(current, secrets, ...install)
    const { gatewayUrl, smtp } = await findInstallation(server)
    const client = new AgentMailClient({ baseUrl: gatewayUrl, apiKey: keyIn(printed), maxRetries: 0 })
    const { inboxId } = await client.inboxes.create({})
    const messageId = `<${randomName()}@${OUTSIDE_DOMAIN}>`
    const mail = { from: `human@${OUTSIDE_DOMAIN}`, to: inboxId, messageId, text: 'Hello', localAddress: OUTSIDE_HOST }
    await waitFor(() => sendMail({ ...smtp, ...mail }), { what: 'the mail to be accepted', timeout: 60_000 })
    await waitFor(() => client.inboxes.messages.get(inboxId, messageId), { what: 'the mail', timeout: 60_000 })
    await follow(current, uninstall)
    await expectNothingLeft()
    return `${install.length + 2} blocks; a mail arrived in between`
  },
}
