import { z } from 'zod'
import { defineInternal, INTERNAL } from './definition/define.ts'

/** What the service of tools asks the gateway. */
export const toolInternalOperations = {
  /** Asked before each call of a tool: the counters of rate limits are the gateway's. */
  'gateway.admitToolCall': defineInternal({
    ...INTERNAL,
    id: 'gateway.admitToolCall',
    path: '/internal/tools/admit',
    service: 'gateway',
    callers: ['mcp'],
    summary: 'Count one call of a tool with a key, and tell whether it is beyond the limit',
    body: z.object({
      organization_id: z.guid(),
      credential_id: z.guid(),
      peer: z.string().meta({ description: 'Address of the client.' }),
    }),
    response: z.object({
      refusal: z
        .object({ message: z.string(), fix: z.string(), retry_after: z.int() })
        .optional()
        .meta({ description: 'Present: the call must not be made; what its caller is to be told.' }),
    }),
  }),
} as const
