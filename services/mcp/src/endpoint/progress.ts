import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js'

/**
 * Whether a request asks for notices of progress, which only a stream can carry. All other answers are plain JSON: a client
 * learns at once that one is not to come, while the SDKs wait in vain for the rest of a stream that has broken.
 */
export function asksForProgress(message: unknown): boolean {
  const messages = Array.isArray(message) ? message : [message]
  return messages.some((each) => {
    const call = CallToolRequestSchema.safeParse(each)
    return call.success && call.data.params._meta?.progressToken !== undefined
  })
}
