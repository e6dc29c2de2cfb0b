import { TOOL_LIMITS } from '@restante/contracts/vocabulary'
import { z } from 'zod'
import { done, page, quoted } from '../../answers/answer.ts'
import type { Bodies, BodyReader } from '../../untrusted/index.ts'
import { draftId, inboxId, paging, strings, time, timed } from '../definition/inputs.ts'
import { draft, drafts, sent, success } from '../definition/outputs.ts'
import { defineTool, type Tool } from '../definition/tool.ts'
import { onWire } from '../definition/wire.ts'
import { withBody } from './bodies.ts'
import { accepted, recipients, written } from './sending.ts'

const named = (id: string) => ({ draft_id: id })
const sendAt = time('When it is sent')
const { attachments, labels, ...changeable } = written

export const draftTools: readonly Tool[] = [
  defineTool({
    name: 'create_draft',
    title: 'Create Draft',
    description: 'Write an e-mail without sending it, or schedule it with sendAt. With inReplyTo it answers a message.',
    kind: 'creates',
    openWorld: false,
    input: z.object({
      inboxId,
      ...recipients,
      ...written,
      inReplyTo: z.string().optional().describe('The message that it answers'),
      sendAt,
      clientId: z.string().optional().describe('Your own id: a repeated call returns the same draft'),
    }),
    output: draft,
    needs: ['drafts.create'],
    run: async ({ api, reader }, { inboxId: inbox, ...body }) =>
      shown(reader, await api.call('drafts.create', { inboxId: inbox, body: onWire(body) })),
  }),
  defineTool({
    name: 'list_drafts',
    title: 'List Drafts',
    description: 'List the drafts of an inbox, the last changed first. The label scheduled finds those with a time.',
    kind: 'reads',
    openWorld: false,
    input: z.object({ inboxId, ...paging, ...timed, labels: strings('Only drafts with all of these labels') }),
    output: drafts,
    needs: ['drafts.list'],
    run: async ({ api }, { inboxId: inbox, ...query }) =>
      page('drafts', await api.call('drafts.list', { inboxId: inbox, query: onWire(query) })),
  }),
  defineTool({
    name: 'get_draft',
    title: 'Get Draft',
    description: 'Get a draft with its text, and what becomes of it if it is scheduled.',
    kind: 'reads',
    openWorld: false,
    input: z.object({ inboxId, draftId }),
    output: draft,
    needs: ['drafts.get'],
    run: async ({ api, reader }, { inboxId: inbox, draftId: id }) =>
      shown(reader, await api.call('drafts.get', { inboxId: inbox, params: named(id) })),
  }),
  defineTool({
    name: 'update_draft',
    title: 'Update Draft',
    description: 'Change a draft. What you leave out stays as it is; an empty list of recipients removes them.',
    kind: 'changes',
    openWorld: false,
    input: z.object({ inboxId, draftId, ...recipients, ...changeable, sendAt }),
    output: draft,
    needs: ['drafts.update'],
    run: async ({ api, reader }, { inboxId: inbox, draftId: id, ...change }) =>
      shown(reader, await api.call('drafts.update', { inboxId: inbox, params: named(id), body: onWire(change) })),
  }),
  defineTool({
    name: 'send_draft',
    title: 'Send Draft',
    description: 'Send a draft now.',
    kind: 'acts',
    openWorld: true,
    input: z.object({ inboxId, draftId }),
    output: sent,
    needs: ['drafts.send'],
    run: async ({ api }, { inboxId: inbox, draftId: id }) =>
      accepted(await api.call('drafts.send', { inboxId: inbox, params: named(id) })),
  }),
  defineTool({
    name: 'delete_draft',
    title: 'Delete Draft',
    description: 'Delete a draft; a scheduled one is not sent then.',
    kind: 'changes',
    openWorld: false,
    input: z.object({ inboxId, draftId }),
    output: success,
    needs: ['drafts.delete'],
    run: async ({ api }, { inboxId: inbox, draftId: id }) => {
      await api.call('drafts.delete', { inboxId: inbox, params: named(id) })
      return done('The draft is deleted.')
    },
  }),
]

async function shown(reader: BodyReader, document: Bodies) {
  return quoted(
    'The draft:',
    await withBody(reader, document, { maxChars: TOOL_LIMITS.bodyCharacters.default, full: true }),
  )
}
