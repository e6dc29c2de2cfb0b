import { randomUUID } from 'node:crypto'
import type { InternalResponseOf } from '@restante/contracts/internal'
import type { Fixture, inboxCaller } from './fixture.ts'

export type Source = NonNullable<InternalResponseOf<'mail-ingest.getReplySource'>['source']>

/** A message that somebody outside sent to the inbox of a caller. */
export function sourceOf(caller: ReturnType<typeof inboxCaller>, changes: Partial<Source> = {}): Source {
  const from = `Ann <ann-${randomUUID().slice(0, 6)}@outside.example>`
  return {
    message_id: `<${randomUUID()}@outside.example>`,
    thread_id: randomUUID(),
    sent: false,
    timestamp: '2026-08-24T14:46:00.000Z',
    from,
    author: from,
    to: [caller.inbox.address, `bo-${randomUUID().slice(0, 6)}@outside.example`],
    cc: [`cy-${randomUUID().slice(0, 6)}@outside.example`],
    subject: 'Lunch',
    references: ['<first@outside.example>', '<second@outside.example>'],
    text: 'Shall we?\n\nAnn',
    html: '<p>Shall we?</p>',
    attachments: [],
    ...changes,
  }
}

/** A mailbox that has this message, with these files, for every caller that may see it. */
export function holdMessage(
  fixture: Pick<Fixture, 'peers' | 'store'>,
  source: Source,
  files: Readonly<Record<string, Buffer>> = {},
): Source {
  fixture.peers.answers = {
    ...fixture.peers.answers,
    'mail-ingest.placeSent': async () => ({}),
    'mail-ingest.getReplySource': async ({ message_id }) => (message_id === source.message_id ? { source } : {}),
    'mail-ingest.copyFiles': async ({ source: wanted, max_bytes }) => {
      if ('link' in wanted) return { refused: 'no_link' }
      if (wanted.message_id !== source.message_id) return { refused: 'no_message' }
      const copied = []
      for (const { attachment_id, blob } of wanted.attachments) {
        const about = source.attachments.find((one) => one.attachment_id === attachment_id)
        const content = files[attachment_id]
        if (!about || !content) return { refused: 'no_attachment' as const }
        if (content.length > max_bytes) return { refused: 'too_large' as const }
        const { attachment_id: _, ...facts } = about
        copied.push({ ...facts, ...(await fixture.store(blob, content)) })
      }
      return { files: copied }
    },
  }
  return source
}
