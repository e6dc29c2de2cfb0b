import { z } from 'zod'
import { quoted } from '../../answers/answer.ts'
import { modelDocument } from '../../answers/document.ts'
import { DATA_NOTICE, inboxId, maxChars, offset, threadId } from '../definition/inputs.ts'
import { attachmentLink } from '../definition/outputs.ts'
import { defineTool } from '../definition/tool.ts'

export const getAttachment = defineTool({
  name: 'get_attachment',
  title: 'Get Attachment',
  description: `Get an attachment of a conversation: its name and type, a link to download it, and its text if it is a PDF or a document of a word processor, spreadsheet or presentation. ${DATA_NOTICE}`,
  kind: 'reads',
  openWorld: true,
  input: z.object({
    inboxId,
    threadId,
    attachmentId: z.string().min(1).describe('The attachment'),
    maxChars,
    offset,
  }),
  output: attachmentLink,
  needs: ['threads.getAttachment'],
  run: async ({ api, reader }, { inboxId: inbox, threadId, attachmentId, maxChars: most, offset }) => {
    const { text_url: link, ...found } = await api.call('threads.getAttachment', {
      inboxId: inbox,
      params: { thread_id: threadId, attachment_id: attachmentId },
    })
    const document = modelDocument(found)
    if (link === undefined) return quoted('The attachment, of which no text is known:', document)
    const { text, ...facts } = await reader.read({ text: await api.read(link) }, { maxChars: most, offset, full: true })
    const more = facts.nextOffset === undefined ? [] : [`The text goes on: call again with offset ${facts.nextOffset}.`]
    return quoted('The attachment:', { ...document, text, body: facts }, more)
  },
})
