import { waitFor } from '@restante/testkit'
import type { AgentMail } from 'agentmail'
import type { Suite } from './suite.ts'
import { newUsername } from './tenants.ts'

/** The secret in the answer of a key's creation: the client's type also allows for answers without one. */
export function secretOf(created: object): string {
  if ('apiKey' in created && typeof created.apiKey === 'string') return created.apiKey
  throw new Error('no key was created')
}

/** The message of an inbox with that Message-ID, as soon as it is there. */
export function arrival({ tenant }: Suite, inboxId: string, messageId: string): Promise<AgentMail.Message> {
  return waitFor(() => tenant.client.inboxes.messages.get(inboxId, messageId), {
    what: `${messageId} in ${inboxId}`,
  })
}

/** A new inbox with one received mail in it. */
export async function inboxWithMail(
  suite: Suite,
  mail: { subject?: string; text?: string } = {},
): Promise<{ inboxId: string; message: AgentMail.Message }> {
  const { inboxId } = await suite.tenant.client.inboxes.create({})
  const messageId = `<${newUsername('id')}@${suite.peer.domain}>`
  await suite.peer.send({ to: inboxId, subject: 'Question', text: 'How are you?', messageId, ...mail })
  return { inboxId, message: await arrival(suite, inboxId, messageId) }
}
