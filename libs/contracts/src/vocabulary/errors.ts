import { z } from 'zod'

/** How one error code is answered (identity 1.6). */
export interface ErrorDefinition {
  readonly status: 400 | 401 | 403 | 404 | 409 | 410 | 412 | 413 | 422 | 429 | 500 | 503
  /** Legacy name that SDKs map to their error classes; callers branch on the code. */
  readonly name: string
  /** Value of `x-should-retry`, which stops clients from repeating a permanent failure; undefined: header not sent. */
  readonly retry: boolean | undefined
  readonly message: string
  /** Next action, if the same one applies to every occurrence of the code. */
  readonly fix?: string
}

/** Every code of the API: status, name and retry advice in one place. */
export const ERRORS = {
  validation_error: { status: 400, name: 'ValidationError', retry: false, message: 'Invalid request' },
  query_range_too_wide: { status: 400, name: 'QueryRangeTooWideError', retry: false, message: 'The range is too wide' },
  missing_authorization: {
    status: 401,
    name: 'UnauthorizedError',
    retry: false,
    message: 'Authorization header is missing',
    fix: 'Send the header "Authorization: Bearer <API key>".',
  },
  invalid_token_type: {
    status: 401,
    name: 'UnauthorizedError',
    retry: false,
    message: 'A session token cannot be used here',
    fix: 'Send an API key; it starts with "am_".',
  },
  unknown_api_key: {
    status: 401,
    name: 'UnauthorizedError',
    retry: false,
    message: 'API key not recognized',
    fix: 'Check the key; it may have been deleted or belong to another installation.',
  },
  api_key_expired: {
    status: 401,
    name: 'UnauthorizedError',
    retry: false,
    message: 'API key has expired',
    fix: 'Create a new key; the expiry of a key cannot be extended.',
  },
  unauthorized: { status: 401, name: 'UnauthorizedError', retry: false, message: 'Unauthorized' },
  missing_permission: { status: 403, name: 'ForbiddenError', retry: false, message: 'Forbidden' },
  permission_escalation: {
    status: 403,
    name: 'ForbiddenError',
    retry: false,
    message: 'A key cannot grant permissions that it does not have',
  },
  unrestricted_key_required: {
    status: 403,
    name: 'ForbiddenError',
    retry: false,
    message: 'Only an unrestricted key can do this',
    fix: 'Use an unrestricted key: in GET /v0/api-keys its record has no "permissions".',
  },
  forbidden: { status: 403, name: 'ForbiddenError', retry: false, message: 'Forbidden' },
  message_rejected: { status: 403, name: 'MessageRejectedError', retry: false, message: 'Message rejected' },
  inbox_paused: {
    status: 403,
    name: 'InboxPausedError',
    retry: false,
    message: 'Inbox is paused',
    fix: 'Update the inbox with status "active"; this needs inbox_update.',
  },
  already_exists: { status: 403, name: 'AlreadyExistsError', retry: false, message: 'Already exists' },
  resource_taken: {
    status: 403,
    name: 'IsTakenError',
    retry: false,
    message: 'Already taken',
    fix: 'Choose another name.',
  },
  limit_exceeded: { status: 403, name: 'LimitExceededError', retry: false, message: 'Limit exceeded' },
  domain_not_verified: {
    status: 403,
    name: 'DomainNotVerifiedError',
    retry: false,
    message: 'Domain is not verified',
    fix: 'Publish the DNS records of the domain and verify it.',
  },
  not_found: { status: 404, name: 'NotFoundError', retry: false, message: 'Not found' },
  conflict: { status: 409, name: 'ConflictError', retry: false, message: 'Conflict' },
  race_condition: {
    status: 409,
    name: 'RaceConditionError',
    retry: true,
    message: 'Changed by someone else at the same time',
    fix: 'Repeat the request.',
  },
  resource_deleting: {
    status: 409,
    name: 'ResourceDeletingError',
    retry: true,
    message: 'A resource of this name is still being deleted',
    fix: 'Repeat the request in a minute.',
  },
  cannot_delete: { status: 409, name: 'CannotDeleteError', retry: false, message: 'Cannot be deleted' },
  idempotency_conflict: {
    status: 409,
    name: 'ConflictError',
    retry: false,
    message: 'Already used for another request',
    fix: 'Use another one for a different request.',
  },
  event_starting: {
    status: 409,
    name: 'ConflictError',
    retry: false,
    message: 'The event is starting at this moment',
    fix: 'Repeat the request in a few seconds.',
  },
  event_already_started: { status: 409, name: 'ConflictError', retry: false, message: 'The event has already started' },
  event_in_progress: {
    status: 409,
    name: 'ConflictError',
    retry: false,
    message: 'The change does not fit the edits that the series has',
  },
  future_edit_start_move_not_supported: {
    status: 409,
    name: 'ConflictError',
    retry: false,
    message: 'The start of this and all later dates cannot be moved',
    fix: 'End the series with mode=future and create another, or change the start of the whole series.',
  },
  recurrence_density_limit: {
    status: 409,
    name: 'ConflictError',
    retry: false,
    message: 'The rule has too many dates',
    fix: 'Use a rule with at most 730 dates in any 90 days.',
  },
  materialization_failed: {
    status: 409,
    name: 'ConflictError',
    retry: false,
    message: 'The series has no date',
    fix: 'Change the rule, or leave out fewer of its dates.',
  },
  page_token_stale: {
    status: 409,
    name: 'ConflictError',
    retry: false,
    message: 'The series has changed since the page before',
    fix: 'Start again from the first page.',
  },
  calendar_response_invalid: {
    status: 409,
    name: 'ConflictError',
    retry: false,
    message: 'Not possible for this event',
  },
  calendar_inbox_required: {
    status: 409,
    name: 'ConflictError',
    retry: false,
    message: 'Invitations need the inbox of the calendar, and it was deleted',
  },
  event_expired: { status: 410, name: 'GoneError', retry: false, message: 'The date is no longer kept' },
  precondition_failed: {
    status: 412,
    name: 'PreconditionFailedError',
    retry: false,
    message: 'Changed since it was read',
    fix: 'Read it again, and repeat the change with its new ETag.',
  },
  payload_too_large: { status: 413, name: 'PayloadTooLargeError', retry: false, message: 'Request body is too large' },
  unprocessable: { status: 422, name: 'UnprocessableError', retry: false, message: 'Request cannot be processed' },
  rate_limit_exceeded: {
    status: 429,
    name: 'RateLimitError',
    retry: undefined,
    message: 'Too many requests',
    fix: 'Wait as long as Retry-After says.',
  },
  internal_error: { status: 500, name: 'ServerError', retry: undefined, message: 'Internal server error' },
  service_unavailable: {
    status: 503,
    name: 'ServiceUnavailableError',
    retry: undefined,
    message: 'Service temporarily unavailable',
    fix: 'Repeat the request in a moment.',
  },
} as const satisfies Record<string, ErrorDefinition>

export type ErrorCode = keyof typeof ERRORS

/** Cases of a code that carry another `name`, or other retry advice, than the code's own (identity 1.2, 1.6). */
export const ERROR_VARIANTS = {
  malformed_json: { code: 'validation_error', name: 'SyntaxError', retry: false },
  idempotency_key_in_progress: { code: 'conflict', name: 'IdempotencyKeyConflictError', retry: true },
  idempotency_key_reused: { code: 'conflict', name: 'IdempotencyKeyConflictError', retry: false },
} as const satisfies Record<string, { code: ErrorCode; name: string; retry: boolean }>
export type ErrorVariant = keyof typeof ERROR_VARIANTS

/** The four messages of `missing_authorization`, checked in this order (identity 1.6). */
export const AUTHORIZATION_MESSAGES = {
  missing: 'Authorization header is missing',
  scheme: 'Authorization scheme must be exactly "Bearer "',
  empty: 'API key is empty',
  whitespace: 'API key contains whitespace',
} as const

/** Message of a 404 for a method and path that no operation has. */
export const ROUTE_NOT_FOUND = 'Route not found'

/** One entry of `errors` on a 400: the path in wire names, and the problem. */
export const fieldError = z.object({ path: z.array(z.union([z.string(), z.int()])), message: z.string() })
export type FieldError = z.infer<typeof fieldError>

/** Body of every error but the infrastructure ones (identity 1.5). */
export const errorEnvelope = z
  .object({
    name: z.string().meta({ description: 'Legacy name; do not branch on it.' }),
    code: z.string().meta({ description: 'Stable code; branch on it.' }),
    message: z.string(),
    fix: z.string().optional().meta({ description: 'Concrete next action.' }),
    docs: z.string().optional().meta({ description: 'Reference entry of the code.' }),
    errors: z.array(fieldError).optional().meta({ description: 'On 400: each wrong field.' }),
    resource: z.string().optional().meta({ description: 'On a limit: what is limited.' }),
    limit: z.int().optional().meta({ description: 'On a limit: its value.' }),
    window: z.string().optional().meta({ description: 'On a quota: the window it counts in.' }),
    upgrade_url: z.string().optional(),
    current_revision: z.int().optional().meta({ description: 'On 412: the revision that the resource has now.' }),
  })
  .meta({ id: 'Error' })
export type ErrorEnvelope = z.infer<typeof errorEnvelope>

/**
 * Body of responses that do not come from an operation: 413 of a mail request, 414, 426, 431, a refused stream
 * handshake.
 */
export const infrastructureError = z.object({ message: z.string() }).meta({ id: 'InfrastructureError' })

/** The `docs` link of a code. */
export function errorDocs(docsUrl: string, code: ErrorCode): string {
  return `${docsUrl}/errors#${code}`
}
