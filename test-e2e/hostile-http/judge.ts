import { errorCodesOf, isOperationId, type OperationDefinition, operations } from '@restante/contracts/operations'
import { ERRORS, type ErrorCode, errorEnvelope, infrastructureError } from '@restante/contracts/vocabulary'
import { z } from 'zod'
import type { HttpAnswer } from './exchange.ts'
import type { HttpRequest } from './requests/make-request.ts'

/** Internal details: stacks, files, statements, names of components, texts of engines and parsers. */
const INTERNALS =
  /\bat \S+ \(|\.ts:\d|node_modules|node:internal|\/work\/|prisma|postgres|SQLSTATE|syntax error at|\brelation "|\bcolumn "|duplicate key|\bselect .* from\b|kafka|redis|ECONN|EPIPE|ETIMEDOUT|TypeError|RangeError|ReferenceError|Cannot read prop|is not a function|is not iterable|Unexpected token|invalid input syntax|\bzod\b|127\.0\.0\.1:\d|\[object |undefined/i

/** The response of the listener to bytes that are no request. */
const UNREADABLE = 'This is not a valid HTTP request'

/** Statuses with only a `message`, because they do not come from an operation (identity 1.10). */
const BARE = new Set([413, 414, 417, 426, 431])

const errorCode = z.enum(Object.keys(ERRORS))

/** What is wrong with a response; `undefined` if it follows the conventions. */
export function faultOf(request: HttpRequest, answer: HttpAnswer): string | undefined {
  if (answer.status >= 500) return `${answer.status}`
  if (answer.headers['x-request-id'] === undefined) return 'no request id'
  if (request.method === 'HEAD' || answer.status === 204) {
    return answer.text === '' ? undefined : 'a body where none belongs'
  }
  if (answer.status < 300) return faultOfSuccess(request, answer)
  if (!String(answer.headers['content-type']).startsWith('application/json')) return 'an error that is no JSON'
  return faultOfError(request, answer)
}

function faultOfSuccess(request: HttpRequest, answer: HttpAnswer): string | undefined {
  const operation = operationOf(request)
  if (request.method !== request.route.method || !(operation?.response instanceof z.ZodType)) return undefined
  const parsed = operation.response.safeParse(JSON.parse(answer.text))
  return parsed.success ? undefined : `not the response of ${operation.id}: ${z.prettifyError(parsed.error)}`
}

function faultOfError(request: HttpRequest, answer: HttpAnswer): string | undefined {
  const body: unknown = JSON.parse(answer.text)
  if (infrastructureError.strict().safeParse(body).success) {
    return BARE.has(answer.status) ? undefined : 'an error without its envelope'
  }
  const parsed = errorEnvelope.strict().safeParse(body)
  if (!parsed.success) return `not the envelope: ${z.prettifyError(parsed.error)}`
  const { code, message, fix = '', docs, errors } = parsed.data
  // These requests are valid HTTP, so bytes of the previous message on the connection must have been left over.
  if (message === UNREADABLE) return 'not taken for HTTP'
  const known = errorCode.safeParse(code)
  if (!known.success || !isErrorCode(known.data)) return `unknown code ${code}`
  if (ERRORS[known.data].status !== answer.status) return `${code} with status ${answer.status}`
  if (docs?.endsWith(`#${code}`) !== true) return 'no link to its documentation'
  if ((answer.status === 400) !== (errors !== undefined)) return 'errors belong on 400, and there always'
  // Where a range is too wide, the entry says what to do about it (identity 9.4).
  const isFirst = code === 'query_range_too_wide' || errors === undefined || errors[0]?.message === message
  if (!isFirst) return 'the message is not that of the first entry'
  const texts = [message, fix, ...(errors ?? []).map((entry) => entry.message)]
  const telling = texts.find((text) => INTERNALS.test(text))
  if (telling !== undefined) return `tells internals: ${telling}`
  return isDeclared(request, known.data) ? undefined : `${code} is not declared for ${request.route.operationId}`
}

function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(ERRORS, name)
}

/** An altered path or method may lead to another operation or to none. */
function isDeclared(request: HttpRequest, code: ErrorCode): boolean {
  const operation = operationOf(request)
  if (operation === undefined || code === 'not_found' || request.method !== request.route.method) return true
  return errorCodesOf(operation).includes(code)
}

function operationOf({ route }: HttpRequest): OperationDefinition | undefined {
  return isOperationId(route.operationId) ? operations[route.operationId] : undefined
}
