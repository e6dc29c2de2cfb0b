import { type Submission, waitFor } from '@restante/testkit'
import type { AgentMail } from 'agentmail'
import type { Suite } from './suite.ts'
import { newUsername } from './tenants.ts'

/** The test string that every spam filter classifies as spam. */
export const SPAM_TEXT = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'

/** A client that can read the inbox. */
interface Reader {
  readonly tenant: Pick<Suite['tenant'], 'client'>
}

/** The message of an inbox with that Message-ID, as soon as it is stored. */
export function arrival({ tenant }: Reader, inboxId: string, messageId: string): Promise<AgentMail.Message> {
  return waitFor(() => tenant.client.inboxes.messages.get(inboxId, messageId), {
    what: `${messageId} in ${inboxId}`,
  })
}

/** Sends a mail from the peer to an inbox, and resolves to the stored message. */
export async function mailTo(
  suite: Reader & Pick<Suite, 'peer'>,
  inboxId: string,
  mail: Omit<Submission, 'port' | 'to' | 'messageId'> = {},
): Promise<AgentMail.Message> {
  const messageId = `<${newUsername('id')}@${suite.peer.domain}>`
  await suite.peer.send({ to: inboxId, subject: 'Question', text: 'How are you?', messageId, ...mail })
  return arrival(suite, inboxId, messageId)
}

/** A new inbox with one received mail in it. */
export async function inboxWithMail(
  suite: Suite,
  mail: { readonly subject?: string; readonly text?: string } = {},
): Promise<{ inboxId: string; message: AgentMail.Message }> {
  const { inboxId } = await suite.tenant.client.inboxes.create({})
  return { inboxId, message: await mailTo(suite, inboxId, mail) }
}

/** The latest code that was mailed to the human of an agent. @param mails number of code mails to wait for. */
export async function codeFor({ server }: Suite['peer'], human: string, mails = 1): Promise<string> {
  const sent = () => server.mailsTo(human).filter(({ parsed }) => /code/i.test(parsed.subject ?? ''))
  await waitFor(() => sent().length >= mails, { what: `code mail ${mails} to ${human}` })
  const [code] = /\b\d{6}\b/.exec(sent().at(-1)?.parsed.text ?? '') ?? []
  if (code === undefined) throw new Error('the mail contains no code')
  return code
}
