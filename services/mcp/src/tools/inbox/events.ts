import { z } from 'zod'
import { page } from '../../answers/answer.ts'
import { inboxId, paging } from '../definition/inputs.ts'
import { events } from '../definition/outputs.ts'
import { defineTool } from '../definition/tool.ts'
import { onWire } from '../definition/wire.ts'

export const listEvents = defineTool({
  name: 'list_events',
  title: 'List Events',
  description:
    'List which labels the messages of an inbox got and lost, newest first: what came in, was read, bounced.',
  kind: 'reads',
  openWorld: false,
  input: z.object({ inboxId, ...paging, ascending: z.boolean().optional().describe('Oldest first') }),
  output: events,
  needs: ['inboxEvents.list'],
  run: async ({ api }, { inboxId: inbox, ...query }) =>
    page('events', await api.call('inboxEvents.list', { inboxId: inbox, query: onWire(query) })),
})
