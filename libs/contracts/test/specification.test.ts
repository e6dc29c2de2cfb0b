import type { z } from 'zod'
import { PERMISSIONS } from '../src/access/index.ts'
import { type OperationDefinition, operations } from '../src/operations/index.ts'
import { type Structure, structureOf, validate } from '../src/validation/index.ts'
import { ERROR_VARIANTS, ERRORS, type Tier } from '../src/vocabulary/index.ts'

// What clients know by heart is written here once more, by hand from the specification: a slip in the tables of the
// code would otherwise go through all that is made from them, the tests of access included.

/** Method, path below the prefix, prefixes, permission, tiers, status (identity 4.3). */
const ROUTES = `
GET    /auth/me                                              O   any               OPI 200
GET    /organizations                                        O   organization_read O   200
POST   /agent/sign-up                                        O   none              -   200
POST   /agent/verify                                         O   agent_verify      O   200
POST   /agent/human                                          O   agent_verify      O   200
GET    /api-keys                                             OPI api_key_read      OPI 200
POST   /api-keys                                             OPI api_key_create    OPI 200
GET    /api-keys/{api_key_id}                                OPI api_key_read      OPI 200
PATCH  /api-keys/{api_key_id}                                OPI api_key_update    OPI 200
DELETE /api-keys/{api_key_id}                                OPI api_key_delete    OPI 204
GET    /api-keys/public-keys                                 O   api_key_read      OPI 200
POST   /api-keys/public-keys                                 O   api_key_create    OPI 200
PATCH  /api-keys/public-keys/{api_key_id}                    O   api_key_update    OPI 200
DELETE /api-keys/public-keys/{api_key_id}                    O   api_key_delete    OPI 204
POST   /api-keys/public-keys/agentid-sign-in/revoke-all      O   api_key_delete    OPI 200
POST   /api-keys/agentid-sign-in/revoke-all                  O   api_key_delete    OPI 200
GET    /pods                                                 O   pod_read          OP  200
POST   /pods                                                 O   pod_create        O   200
GET    /pods/{pod_id}                                        O   pod_read          OP  200
PATCH  /pods/{pod_id}                                        O   pod_update        OP  200
DELETE /pods/{pod_id}                                        O   pod_delete        OP  204
GET    /inboxes                                              OP  inbox_read        OPI 200
GET    /inboxes/search                                       OP  inbox_read        OPI 200
POST   /inboxes                                              OP  inbox_create      OP  200
GET    /inboxes/{inbox_id}                                   OP  inbox_read        OPI 200
PATCH  /inboxes/{inbox_id}                                   OP  inbox_update      OPI 200
DELETE /inboxes/{inbox_id}                                   OP  inbox_delete      OPI 204
GET    /messages                                             I   message_read      OPI 200
GET    /messages/search                                      I   message_read      OPI 200
POST   /messages/batch-get                                   I   message_read      OPI 200
POST   /messages/batch-update                                I   message_update    OPI 200
GET    /messages/{message_id}                                I   message_read      OPI 200
GET    /messages/{message_id}/raw                            I   message_read      OPI 200
GET    /messages/{message_id}/attachments/{attachment_id}    I   message_read      OPI 200
PATCH  /messages/{message_id}                                I   message_update    OPI 200
DELETE /messages/{message_id}                                I   message_delete    OPI 204
POST   /messages/send                                        I   message_send      OPI 200
POST   /messages/{message_id}/reply                          I   message_send      OPI 200
POST   /messages/{message_id}/reply-all                      I   message_send      OPI 200
POST   /messages/{message_id}/forward                        I   message_send      OPI 200
GET    /drafts                                               OPI draft_read        OPI 200
GET    /drafts/{draft_id}                                    OPI draft_read        OPI 200
GET    /drafts/{draft_id}/attachments/{attachment_id}        OPI draft_read        OPI 200
POST   /drafts                                               I   draft_create      OPI 200
PATCH  /drafts/{draft_id}                                    I   draft_update      OPI 200
DELETE /drafts/{draft_id}                                    I   draft_delete      OPI 204
POST   /drafts/{draft_id}/send                               I   draft_send        OPI 200
POST   /messages/{message_id}/draft-reply                    I   draft_create      OPI 200
POST   /messages/{message_id}/draft-reply-all                I   draft_create      OPI 200
POST   /messages/{message_id}/draft-forward                  I   draft_create      OPI 200
GET    /threads                                              OPI message_read      OPI 200
GET    /threads/search                                       OPI message_read      OPI 200
GET    /threads/{thread_id}                                  OPI message_read      OPI 200
GET    /threads/{thread_id}/attachments/{attachment_id}      OPI message_read      OPI 200
PATCH  /threads/{thread_id}                                  OPI message_update    OPI 200
DELETE /threads/{thread_id}                                  OPI message_delete    OPI 204
GET    /events                                               I   message_read      OPI 200
GET    /lists/{direction}/{type}                             OPI list_entry_read   OPI 200
POST   /lists/{direction}/{type}                             OPI list_entry_create OPI 200
GET    /lists/{direction}/{type}/{entry}                     OPI list_entry_read   OPI 200
DELETE /lists/{direction}/{type}/{entry}                     OPI list_entry_delete OPI 204
GET    /domains                                              OP  domain_read       OP  200
POST   /domains                                              OP  domain_create     OP  200
GET    /domains/{domain_id}                                  OP  domain_read       OP  200
PATCH  /domains/{domain_id}                                  OP  domain_update     OP  200
DELETE /domains/{domain_id}                                  OP  domain_delete     OP  204
POST   /domains/{domain_id}/verify                           OP  domain_update     OP  204
GET    /domains/{domain_id}/zone-file                        OP  domain_read       OP  200
GET    /domains/{domain_id}/setup-link                       OP  domain_read       OP  200
GET    /webhooks                                             OPI webhook_read      OPI 200
POST   /webhooks                                             OPI webhook_create    OPI 200
GET    /webhooks/{webhook_id}                                OPI webhook_read      OPI 200
PATCH  /webhooks/{webhook_id}                                OPI webhook_update    OPI 200
DELETE /webhooks/{webhook_id}                                OPI webhook_delete    OPI 204
GET    /webhooks/{webhook_id}/headers                        OPI webhook_read      OPI 200
PATCH  /webhooks/{webhook_id}/headers                        OPI webhook_update    OPI 204
POST   /webhooks/{webhook_id}/test                           OPI webhook_update    OPI 200
GET    /webhooks/{webhook_id}/deliveries                     OPI webhook_read      OPI 200
POST   /webhooks/{webhook_id}/deliveries/{delivery_id}/retry OPI webhook_update    OPI 200
GET    /apps                                                 O   any               OPI 200
GET    /apps/search                                          O   any               OPI 200
GET    /apps/{app_id}                                        O   any               OPI 200
GET    /apps/{app_id}/accounts                               O   inbox_read        OPI 200
POST   /apps/{app_id}/connect                                O   app_connect       OPI 202
GET    /providers                                            O   any               OPI 200
GET    /providers/search                                     O   any               OPI 200
GET    /providers/{app_id}                                   O   any               OPI 200
GET    /providers/{app_id}/accounts                          O   inbox_read        OPI 200
POST   /providers/{app_id}/connect                           O   app_connect       OPI 202
GET    /accounts                                             OPI inbox_read        OPI 200
GET    /accounts/{account_id}                                OPI inbox_read        OPI 200
PATCH  /accounts/{account_id}/update                         O   account_update    OPI 200
PATCH  /accounts/{account_id}                                O   account_update    OPI 200
POST   /authorize                                            I   app_connect       OPI 200
GET    /calendar                                             I   calendar_read     OPI 200
PATCH  /calendar                                             I   calendar_update   OPI 200
GET    /calendar/events                                      I   calendar_event_read   OPI 200
POST   /calendar/events                                      I   calendar_event_create OPI 201
GET    /calendar/agenda                                      I   calendar_event_read   OPI 200
GET    /calendar/events/{event_id}                           I   calendar_event_read   OPI 200
PATCH  /calendar/events/{event_id}                           I   calendar_event_update OPI 200
DELETE /calendar/events/{event_id}                           I   calendar_event_delete OPI 202
GET    /calendar/events/{event_id}/instances                 I   calendar_event_read   OPI 200
POST   /calendar/events/{event_id}/respond                   I   calendar_event_update OPI 200
GET    /calendar/free-busy                                   I   calendar_event_read   OPI 200
POST   /calendar/free-busy                                   O   calendar_event_read   OPI 200
POST   /calendar/feed                                        I   calendar_update   OPI 201
DELETE /calendar/feed                                        I   calendar_update   OPI 204
GET    /calendar-feeds/{token}                               O   none              -   200
GET    /files/{token}                                        O   none              -   200
GET    /draft-files/{token}                                  O   none              -   200
GET    /metrics/events                                       OPI metrics_read          OPI 200
GET    /metrics/usage                                        OPI metrics_read          OPI 200
GET    /metrics/rates                                        OPI metrics_read          OPI 200
GET    /metrics                                              OPI metrics_read          OPI 200
GET    /stream/poll                                          OPI any               OPI 200
GET    /                                                     O   any               OPI 101`

/** Code, status, name, and whether a client may repeat the request (identity 1.6). */
const CODES = `
validation_error          400 ValidationError         false
query_range_too_wide      400 QueryRangeTooWideError  false
missing_authorization     401 UnauthorizedError       false
invalid_token_type        401 UnauthorizedError       false
unknown_api_key           401 UnauthorizedError       false
api_key_expired           401 UnauthorizedError       false
unauthorized              401 UnauthorizedError       false
missing_permission        403 ForbiddenError          false
permission_escalation     403 ForbiddenError          false
unrestricted_key_required 403 ForbiddenError          false
forbidden                 403 ForbiddenError          false
message_rejected          403 MessageRejectedError    false
inbox_paused              403 InboxPausedError        false
already_exists            403 AlreadyExistsError      false
resource_taken            403 IsTakenError            false
limit_exceeded            403 LimitExceededError      false
domain_not_verified       403 DomainNotVerifiedError  false
not_found                 404 NotFoundError           false
conflict                  409 ConflictError           false
race_condition            409 RaceConditionError      true
resource_deleting         409 ResourceDeletingError   true
cannot_delete             409 CannotDeleteError       false
idempotency_conflict      409 ConflictError           false
event_starting            409 ConflictError           false
event_already_started     409 ConflictError           false
event_in_progress         409 ConflictError           false
future_edit_start_move_not_supported 409 ConflictError false
recurrence_density_limit  409 ConflictError           false
materialization_failed    409 ConflictError           false
page_token_stale          409 ConflictError           false
calendar_response_invalid 409 ConflictError           false
calendar_inbox_required   409 ConflictError           false
event_expired             410 GoneError               false
precondition_failed       412 PreconditionFailedError false
payload_too_large         413 PayloadTooLargeError    false
unprocessable             422 UnprocessableError      false
rate_limit_exceeded       429 RateLimitError          undefined
internal_error            500 ServerError             undefined
service_unavailable       503 ServiceUnavailableError undefined`

/** The permissions that a key can be granted (identity 4.1). */
const GRANTABLE = `
inbox_read inbox_create inbox_update inbox_delete
message_read message_send message_reply message_update message_delete
label_spam_read label_blocked_read label_unauthenticated_read label_trash_read
draft_read draft_create draft_update draft_delete draft_send
webhook_read webhook_create webhook_update webhook_delete
domain_read domain_create domain_update domain_delete
list_entry_read list_entry_create list_entry_delete
metrics_read
api_key_read api_key_create api_key_update api_key_delete
app_connect app_share_owner account_update
pod_read pod_create pod_update pod_delete
calendar_read calendar_update
calendar_event_read calendar_event_create calendar_event_update calendar_event_delete`

/** Bearer keys have no client_id, so theirs is ignored like any unknown member. The metadata of events is any JSON. */
const NOBODYS = ['apiKeys.create client_id', 'calendarEvents.create metadata', 'calendarEvents.update metadata']

const LETTERS: Readonly<Record<Tier, string>> = { organization: 'O', pod: 'P', inbox: 'I' }

function rows(table: string): string[] {
  return table
    .trim()
    .split('\n')
    .map((row) => row.split(/ +/).join(' '))
    .sort()
}

const letters = (tiers: readonly Tier[]) => tiers.map((tier) => LETTERS[tier]).join('') || '-'

function rowOf({ method, path, prefixes, permission, authentication, tiers, status }: OperationDefinition): string {
  const needed = authentication === 'none' ? 'none' : permission
  return [method, path || '/', letters(prefixes), needed, letters(tiers), status].join(' ')
}

const all = Object.values<OperationDefinition>(operations)

describe('as the specification has it', () => {
  it('each operation has its path, prefixes, permission, tiers and status', () => {
    expect(all.map(rowOf).sort()).toEqual(rows(ROUTES))
  })

  it('each code has its status, its name and its advice about repeating', () => {
    const found = Object.entries(ERRORS).map(([code, { status, name, retry }]) => `${code} ${status} ${name} ${retry}`)
    expect(found.sort()).toEqual(rows(CODES))
    expect(ERROR_VARIANTS.malformed_json).toEqual({ code: 'validation_error', name: 'SyntaxError', retry: false })
  })

  it('each permission has its name', () => {
    expect([...PERMISSIONS].sort()).toEqual(GRANTABLE.trim().split(/\s+/).sort())
  })

  it('null stands for something in these members alone', () => {
    const taken = all.flatMap(({ id, body }) =>
      membersOf(body).flatMap((member) => (isRefused(body, member, null) ? [] : [`${id} ${member}`])),
    )
    expect(taken.filter((member) => !NOBODYS.includes(member))).toEqual([
      'apiKeys.create permissions',
      'apiKeys.update permissions',
      'inboxes.update metadata',
      ...['to', 'cc', 'bcc', 'reply_to', 'subject', 'text', 'html', 'send_at'].map((name) => `drafts.update ${name}`),
      ...['description', 'location', 'recurrence'].map((name) => `calendarEvents.update ${name}`),
    ])
  })

  it('no member takes a text for a number or for true, or the other way round', () => {
    for (const { id, body } of all) {
      for (const member of membersOf(body)) {
        const taken = [7, true, 'true'].filter((value) => !isRefused(body, member, value))
        if (!NOBODYS.includes(`${id} ${member}`)) expect([id, member, taken.length <= 1]).toEqual([id, member, true])
      }
    }
  })
})

function isRefused(body: z.ZodType | undefined, member: string, value: unknown): boolean {
  if (body === undefined) return false
  const result = validate(body, { [member]: value })
  return !result.ok && result.errors.some(({ path }) => path[0] === member)
}

/** Names of the members of a body, in each of its variants. */
function membersOf(body: z.ZodType | undefined): string[] {
  if (body === undefined) return []
  return [...new Set(membersIn(structureOf(body)))]
}

function membersIn(structure: Structure): string[] {
  switch (structure.kind) {
    case 'variants':
      return [structure.present, structure.absent].flatMap(membersIn)
    case 'object':
      return [...structure.members.keys()]
    default:
      return []
  }
}
