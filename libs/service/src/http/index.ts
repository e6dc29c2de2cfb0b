export { ServiceClient, type ServiceClientOptions, UpstreamRejectedError } from './client/service-client.ts'
export { hasBody, readBody, requireDeclaredLength, sendContinue } from './framing/body.ts'
export { BodyMemoryLimiter, type BodyMemoryLimiterOptions, type YieldSlot } from './framing/body-memory-limiter.ts'
export { RawHttpError } from './framing/raw-http-error.ts'
export { answerOnSocket, hangUp, type SocketAnswer } from './framing/socket-answer.ts'
export type { ConnectionLimits } from './listener/connection-limits.ts'
export { type Exchange, requestIdOf, sendJson } from './listener/exchange.ts'
export { type Health, HttpListener, type ListenerOptions } from './listener/listener.ts'
export { type MetricsAddress, MetricsListener } from './listener/metrics-listener.ts'
export type { RequestedLink } from './listener/upgrades.ts'
export { Cursors } from './lists/cursors.ts'
export {
  KeysetPage,
  type KeysetPageOptions,
  type PageMembers,
  type PageQuery,
  type Position,
} from './lists/keyset-page.ts'
export { AdmittedCaller, type ConfirmCaller, confirmWith } from './operations/admitted-caller.ts'
export type { IfMatch } from './operations/if-match.ts'
export {
  type AnyHandler,
  answer,
  type DocumentHandler,
  type Handler,
  type Handlers,
  type InternalHandler,
  type InternalHandlers,
  type OperationRequest,
  type RequestContext,
} from './operations/operations.ts'
export { type Match, Router } from './operations/router.ts'
export { handlerTable, type ServiceRoutesOptions, serviceRoutes } from './operations/service-routes.ts'
export { StreamedJson, WrittenJson } from './operations/written-json.ts'
