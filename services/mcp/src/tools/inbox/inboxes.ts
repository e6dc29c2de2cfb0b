import { z } from 'zod'
import { done, page, quoted } from '../../answers/answer.ts'
import { modelDocument } from '../../answers/document.ts'
import { inboxId, paging } from '../definition/inputs.ts'
import { inbox, inboxes, success } from '../definition/outputs.ts'
import { defineTool, type Tool } from '../definition/tool.ts'
import { onWire } from '../definition/wire.ts'

const metadataValue = z.union([z.string(), z.number(), z.boolean()])
const displayName = z.string().optional().describe('Name that recipients see')

export const inboxTools: readonly Tool[] = [
  defineTool({
    name: 'list_inboxes',
    title: 'List Inboxes',
    description: 'List the e-mail inboxes that you can use, newest first.',
    kind: 'reads',
    openWorld: false,
    input: z.object(paging),
    output: inboxes,
    needs: ['inboxes.list'],
    run: async ({ api }, args) => page('inboxes', await api.call('inboxes.list', { query: onWire(args) })),
  }),
  defineTool({
    name: 'get_inbox',
    title: 'Get Inbox',
    description: 'Get one inbox.',
    kind: 'reads',
    openWorld: false,
    input: z.object({ inboxId }),
    output: inbox,
    needs: ['inboxes.get'],
    run: async ({ api }, args) => shown(await api.call('inboxes.get', { params: named(args) })),
  }),
  defineTool({
    name: 'create_inbox',
    title: 'Create Inbox',
    description:
      'Create an e-mail inbox. All arguments are optional. With a clientId a repeated call returns the same inbox.',
    kind: 'creates',
    openWorld: false,
    input: z.object({
      username: z.string().optional().describe('Part of the address before the @; a free one is chosen without it'),
      domain: z
        .string()
        .optional()
        .describe('Part after it: a domain of this installation, or a verified one of yours'),
      displayName,
      clientId: z.string().optional().describe('Your own id, for repeated calls'),
      metadata: z.record(z.string(), metadataValue).optional().describe('Names and values of your own'),
    }),
    output: inbox,
    needs: ['inboxes.create'],
    run: async ({ api }, args) => shown(await api.call('inboxes.create', { body: onWire(args) })),
  }),
  defineTool({
    name: 'update_inbox',
    title: 'Update Inbox',
    description:
      'Change the display name or metadata of an inbox. Metadata is merged; a value of null removes its name.',
    kind: 'changes',
    openWorld: false,
    input: z.object({
      inboxId,
      displayName,
      metadata: z.record(z.string(), metadataValue.nullable()).optional().describe('Names and values to set or remove'),
    }),
    output: inbox,
    needs: ['inboxes.update'],
    run: async ({ api }, { inboxId: id, ...change }) =>
      shown(await api.call('inboxes.update', { params: named({ inboxId: id }), body: onWire(change) })),
  }),
  defineTool({
    name: 'delete_inbox',
    title: 'Delete Inbox',
    description: 'Delete an inbox and everything in it. This cannot be undone.',
    kind: 'changes',
    openWorld: false,
    input: z.object({ inboxId }),
    output: success,
    needs: ['inboxes.delete'],
    run: async ({ api }, args) => {
      await api.call('inboxes.delete', { params: named(args) })
      return done('The inbox is deleted.')
    },
  }),
]

function named({ inboxId: id }: { readonly inboxId: string }) {
  return { inbox_id: id }
}

function shown(document: object) {
  return quoted('The inbox:', modelDocument(document))
}
