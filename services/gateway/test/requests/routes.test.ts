import { type OperationDefinition, operations, PREFIX } from '@restante/contracts/operations'
import { routeTable } from '../../src/edge/route-table.ts'

// The route table of the specification, by hand: paths below their prefixes (identity 4.3), each with its methods.

const PATHS = `
O   /auth/me                                              GET
O   /organizations                                        GET
O   /organizations/labs                                   GET POST
O   /agent/sign-up                                        POST
O   /agent/verify                                         POST
O   /agent/human                                          POST
OPI /api-keys                                             GET POST
OPI /api-keys/{api_key_id}                                GET PATCH DELETE
O   /api-keys/public-keys                                 GET POST
O   /api-keys/public-keys/{api_key_id}                    PATCH DELETE
O   /api-keys/agentid-sign-in/revoke-all                  POST
O   /pods                                                 GET POST
O   /pods/{pod_id}                                        GET PATCH DELETE
OP  /inboxes                                              GET POST
OP  /inboxes/search                                       GET
OP  /inboxes/{inbox_id}                                   GET PATCH DELETE
I   /authorize                                            POST
OPI /agent-armor                                          GET PATCH
I   /messages                                             GET
I   /messages/search                                      GET
I   /messages/batch-get                                   POST
I   /messages/batch-update                                POST
I   /messages/{message_id}                                GET PATCH DELETE
I   /messages/{message_id}/raw                            GET
I   /messages/{message_id}/attachments/{attachment_id}    GET
I   /messages/send                                        POST
I   /messages/{message_id}/reply                          POST
I   /messages/{message_id}/reply-all                      POST
I   /messages/{message_id}/forward                        POST
I   /messages/{message_id}/draft-reply                    POST
I   /messages/{message_id}/draft-reply-all                POST
I   /messages/{message_id}/draft-forward                  POST
I   /messages/{message_id}/agent-armor/feedback           POST
I   /messages/{message_id}/agent-armor/release            POST
I   /messages/{message_id}/agent-armor/decline            POST
I   /events                                               GET
OPI /threads                                              GET
OPI /threads/search                                       GET
OPI /threads/{thread_id}                                  GET PATCH DELETE
OPI /threads/{thread_id}/attachments/{attachment_id}      GET
OPI /drafts                                               GET POST
OPI /drafts/{draft_id}                                    GET PATCH DELETE
OPI /drafts/{draft_id}/attachments/{attachment_id}        GET
I   /drafts/{draft_id}/send                               POST
OPI /lists/{direction}/{type}                             GET POST
OPI /lists/{direction}/{type}/{entry}                     GET DELETE
OP  /domains                                              GET POST
OP  /domains/{domain_id}                                  GET PATCH DELETE
OP  /domains/{domain_id}/verify                           POST
OP  /domains/{domain_id}/zone-file                        GET
OP  /domains/{domain_id}/setup-link                       GET
OPI /webhooks                                             GET POST
OPI /webhooks/{webhook_id}                                GET PATCH DELETE
OPI /webhooks/{webhook_id}/headers                        GET PATCH
OPI /webhooks/polling                                     GET POST
OPI /webhooks/polling/{webhook_id}                        GET DELETE
OPI /webhooks/polling/{webhook_id}/events                 GET
OPI /metrics                                              GET
OPI /metrics/events                                       GET
OPI /metrics/usage                                        GET
OPI /metrics/rates                                        GET
O   /apps                                                 GET
O   /apps/search                                          GET
O   /apps/{app_id}                                        GET
O   /apps/{app_id}/accounts                               GET
O   /apps/{app_id}/connect                                POST
O   /providers                                            GET
O   /providers/search                                     GET
O   /providers/{app_id}                                   GET
OPI /accounts                                             GET
OPI /accounts/{account_id}                                GET PATCH
O   /accounts/{account_id}/update                         PATCH
I   /calendar                                             GET PATCH
I   /calendar/free-busy                                   GET
O   /calendar/free-busy                                   POST
I   /calendar/feed                                        POST DELETE
I   /calendar/agenda                                      GET
I   /calendar/events                                      GET POST
I   /calendar/events/{event_id}                           GET PATCH DELETE
I   /calendar/events/{event_id}/instances                 GET
I   /calendar/events/{event_id}/respond                   POST
I   /files                                                GET POST
I   /files/{file_id}                                      GET DELETE
I   /files/{file_id}/complete                             POST`

const TIERS = { O: 'organization', P: 'pod', I: 'inbox' } as const
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE']

const all: readonly OperationDefinition[] = Object.values(operations)
const routes = routeTable(
  Object.fromEntries(all.filter(({ service }) => service === 'gateway').map(({ id }) => [id, async () => undefined])),
  [],
)

const places = PATHS.trim()
  .split('\n')
  .flatMap((row) => {
    const [letters = '', path = ''] = row.split(/ +/)
    return Object.entries(TIERS)
      .filter(([letter]) => letters.includes(letter))
      .map(([, tier]) => ({ tier, path, template: `${PREFIX[tier]}${path}` }))
  })

/** A path as a client writes it: an alias of a resource can look like any word. */
const written = (template: string): string => template.replaceAll(/\{[a-z_]+\}/g, 'an-alias')
const sameShape = (path: string): string => path.replaceAll(/\{[a-z_]+\}/g, '{}')

describe('the routes of the specification', () => {
  it.each(places)('$template leads to its own operation, or nowhere', ({ tier, path, template }) => {
    for (const method of METHODS) {
      const built = all.find(
        (operation) =>
          operation.method === method &&
          operation.prefixes.includes(tier) &&
          sameShape(operation.path) === sameShape(path),
      )
      const match = routes.match(method, written(template))
      const found = match !== undefined && 'value' in match ? match.value.operation.id : undefined
      expect([method, found]).toEqual([method, built?.id])
    }
  })

  it.each(places)('$template names methods to a client only where it exists', ({ tier, path, template }) => {
    const methods = all
      .filter(({ prefixes, path: other }) => prefixes.includes(tier) && sameShape(other) === sameShape(path))
      .map(({ method }) => method)
    const expected = methods.length === 0 ? undefined : { allowed: methods }
    expect(routes.match('PUT', written(template))).toEqual(expected)
  })
})
