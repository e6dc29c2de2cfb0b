import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { ApiError, isInfrastructureError } from '@restante/service/errors'
import { z } from 'zod'
import type { Answer } from '../answers/answer.ts'
import { ApiFailure, InterruptedWaitError } from '../api/failure.ts'
import { shownText } from '../untrusted/index.ts'

export function succeeded({ structured, text }: Answer): CallToolResult {
  return { structuredContent: structured, content: [{ type: 'text', text }] }
}

/**
 * The result of a call that failed: the message and the advice of the API's error as text, its document as structured
 * content (mcp 2). That of a wait which was interrupted has its cursor too.
 */
export function failed(error: unknown, docsUrl: string) {
  const interrupted = error instanceof InterruptedWaitError ? error : undefined
  const { body, isOurs } = bodyOf(interrupted?.cause ?? error, docsUrl)
  const { code, message, fix } = told.parse(body)
  const next = interrupted && `To miss no message, call again with after ${JSON.stringify(interrupted.cursor)}.`
  const text = shownText([message, fix, next].filter((part) => part !== undefined).join('\n'))
  const members = Object.entries(body).map(([name, value]) => [name, shown(value)])
  const structuredContent = { ...Object.fromEntries(members), ...(interrupted && { cursor: interrupted.cursor }) }
  const result: CallToolResult = { isError: true, structuredContent, content: [{ type: 'text', text }] }
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
