export { ApiError, type ApiErrorOptions, invalid, notFound } from './api-error.ts'
export { codeOf, isError } from './error-codes.ts'
export { isConflictError, isInfrastructureError, UpstreamError } from './infrastructure.ts'
export { messageOf } from './message-of.ts'
