import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { ApiError, isInfrastructureError } from '@restante/service/errors'
import { z } from 'zod'
import type { Answer } from '../answers/answer.ts'
import { ApiFailure } from '../api/failure.ts'
import { shownText } from '../untrusted/index.ts'

export function succeeded({ structured, text }: Answer): CallToolResult {
  return { structuredContent: structured, content: [{ type: 'text', text }] }
}

/**
 * The result of a call that failed: the message and the advice of the API's error as text, its document as structured
 * content (mcp 2).
 */
export function failed(error: unknown, docsUrl: string) {
  const { body, isOurs } = bodyOf(error, docsUrl)
  const { code, message, fix } = told.parse(body)
  const text = shownText([message, fix].filter((part) => part !== undefined).join('\n'))
  const structured = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, shown(value)]))
  const result: CallToolResult = { isError: true, structuredContent: structured, content: [{ type: 'text', text }] }
  return { result, code, isOurs }
}

const told = z.object({
  code: z.string().catch('unknown'),
  message: z.string().catch('The call failed'),
  fix: z.string().optional().catch(undefined),
})

/** The API quotes what is wrong, which others may have written. */
function shown(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value)
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shown(each)]))
}

function bodyOf(error: unknown, docsUrl: string) {
  if (error instanceof ApiFailure) return { body: error.body, isOurs: false }
  if (error instanceof ApiError) return { body: error.body(docsUrl), isOurs: error.status >= 500 }
  if (isInfrastructureError(error)) return { body: new ApiError('service_unavailable').body(docsUrl), isOurs: true }
  return { body: new ApiError('internal_error').body(docsUrl), isOurs: true }
}
