import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { WAITING_TOOLS } from '../tools/catalogue.ts'

/**
 * Whether a request calls a tool that waits on purpose. Its answer is a stream, which shows proxies and clients that it is
 * still to come; all other answers are plain JSON.
 */
export function waitsIn(message: unknown): boolean {
  const messages = Array.isArray(message) ? message : [message]
  return messages.some((each) => {
    const call = CallToolRequestSchema.safeParse(each)
    return call.success && WAITING_TOOLS.has(call.data.params.name)
  })
}
