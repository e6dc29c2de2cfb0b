export * from '../definition/operation.ts'
export * from '../definition/routes.ts'
export type { CreateEventBody, RespondBody, UpdateEventBody } from './calendar/events.ts'
export { OPERATION_GROUPS, type OperationGroup } from './groups.ts'
export { apiKeyName } from './identity/api-keys.ts'
export { displayName } from './identity/inboxes.ts'
export type { CreateDraftBody, SendDraftBody, UpdateDraftBody } from './mail/draft-bodies.ts'
export type {
  ForwardBody,
  ReplyAllBody,
  ReplyBody,
  SendAttachment,
  SendBody,
} from './mail/send-bodies.ts'
export { MCP_ENDPOINT } from './mcp/mcp.ts'
export type {
  MetricEvents,
  MetricEventsQuery,
  MetricRates,
  MetricRatesQuery,
  MetricUsage,
  MetricUsageQuery,
} from './metrics/metrics.ts'
export * from './table.ts'
