import { type OperationDefinition, type OperationId, operations } from '../../src/operations/index.ts'
import { type Structure, structureOf, validateBody } from '../../src/validation/index.ts'

/** What each optional member looks like inside a body that is right, with `value` in its place; `undefined`: absent. */
type Place = (value: unknown) => unknown

interface OptionalMember {
  readonly at: string
  readonly nullable: boolean
  readonly place: Place
}

/** The members that bodies cannot do without, so that nothing but a null can be wrong. */
const REQUIRED: Readonly<Record<string, object>> = {
  'messages.batchUpdate': { message_ids: ['<1@x.example>'], add_labels: ['seen'] },
  'agent.signUp': { username: 'agent' },
  'agent.verify': { otp_code: '123456' },
  'agent.human': { human_email: 'ada@people.test' },
  'apiKeys.update': { name: 'Name' },
  'pods.update': { name: 'Name' },
  'inboxes.update': { status: 'active' },
  'messages.update': { add_labels: ['vip'] },
  'webhooks.updateHeaders': { headers: { 'x-a': 'b' }, remove_headers: ['x-b'] },
  'webhooks.create': { url: 'https://x.example/', event_types: ['message.sent'] },
}
const KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY',
  y: 'T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU',
}
/** Elements of lists of objects. */
const ELEMENTS: Readonly<Record<string, object>> = { attachments: { content: 'aGk=' } }

function optionalMembers(structure: Structure, at: string, place: Place, base: object): OptionalMember[] {
  switch (structure.kind) {
    case 'variants':
      return [
        ...optionalMembers(structure.present, `${at}+`, place, { ...base, public_key: KEY }),
        ...optionalMembers(structure.absent, at, place, base),
      ]
    case 'object':
      return [...structure.members].flatMap(([name, member]) => {
        const inside: Place = (value) => place(value === undefined ? without(base, name) : { ...base, [name]: value })
        const own = { at: `${at}.${name}`, nullable: member.nullable, place: inside }
        const { structure: part } = member
        const nested: Place = (value) => inside(part.kind === 'list' ? [value] : value)
        const inner = part.kind === 'list' ? part.element : part
        return [...(member.optional ? [own] : []), ...optionalMembers(inner, own.at, nested, ELEMENTS[name] ?? {})]
      })
    default:
      return []
  }
}

function without(base: object, name: string): object {
  return Object.fromEntries(Object.entries(base).filter(([member]) => member !== name))
}

const all = Object.values<OperationDefinition>(operations).flatMap(({ id, body }) =>
  body === undefined
    ? []
    : optionalMembers(structureOf(body), id, (value) => value, REQUIRED[id] ?? {}).map((member) => ({
        ...member,
        body,
      })),
)
const plain = all.filter(({ nullable }) => !nullable)

it('finds optional members inside others', () => {
  expect(plain.map(({ at }) => at)).toEqual(
    expect.arrayContaining(['messages.send.to', 'messages.reply.attachments.url', 'apiKeys.create+.name']),
  )
  expect(plain.length).toBeGreaterThan(50)
})

describe('null for an optional member', () => {
  it.each(plain)('is the same as no $at', ({ body, place }) => {
    expect(validateBody(body, place(null))).toEqual(validateBody(body, place(undefined)))
  })

  it('has a meaning of its own where the specification gives it one, and nowhere else', () => {
    expect(all.filter(({ nullable }) => nullable).map(({ at }) => at)).toEqual([
      'apiKeys.create+.permissions',
      'apiKeys.create.permissions',
      'apiKeys.update.permissions',
      ...['publicKeys.create.permissions', 'publicKeys.update.permissions'],
      'inboxes.update.metadata',
      ...['to', 'cc', 'bcc', 'reply_to', 'subject', 'text', 'html', 'send_at'].map((name) => `drafts.update.${name}`),
      // Of these, null clears description, location, metadata and recurrence, and is refused for the others (calendar 6).
      ...['title', 'description', 'location', 'metadata', 'status', 'all_day', 'timezone', 'duration_mode'].map(
        (name) => `calendarEvents.update.${name}`,
      ),
      ...['start', 'end', 'recurrence', 'attendees'].map((name) => `calendarEvents.update.${name}`),
    ])
  })

  it('changes nothing in what was given', () => {
    const given = { text: null, attachments: [{ content: 'aGk=', url: null }] }
    validateBody(operations['messages.send'].body, given)
    expect(given).toEqual({ text: null, attachments: [{ content: 'aGk=', url: null }] })
  })
})

describe('null is refused', () => {
  const refusal = (id: OperationId, given: unknown) => {
    const { body } = operations[id]
    const result = body === undefined ? undefined : validateBody(body, given)
    return result === undefined || result.ok ? result : result.errors.map(({ path }) => path.join('.'))
  }

  it.each<[OperationId, unknown, string]>([
    ['webhooks.create', { url: null, event_types: ['message.sent'] }, 'url'],
    ['agent.verify', { otp_code: null }, 'otp_code'],
    ['pods.update', { name: null }, 'name'],
  ])('for a required member: %s %j', (id, given, at) => {
    expect(refusal(id, given)).toEqual([at])
  })

  it.each<[OperationId, unknown, string]>([
    ['messages.send', { to: ['a@x.example', null] }, 'to.1'],
    ['messages.send', { labels: [null] }, 'labels.0'],
    ['messages.send', { attachments: [null] }, 'attachments.0'],
    ['messages.update', { add_labels: [null] }, 'add_labels.0'],
    ['webhooks.create', { url: 'https://x.example/', event_types: [null] }, 'event_types.0'],
    ['webhooks.create', { url: 'https://x.example/', event_types: ['message.sent'], pod_ids: [null] }, 'pod_ids.0'],
  ])('as an element of a list: %s %j', (id, given, at) => {
    expect(refusal(id, given)).toEqual([at])
  })

  it.each<[OperationId, unknown, string]>([
    ['messages.send', { headers: { 'X-A': null } }, 'headers.X-A'],
    ['inboxes.create', { metadata: { a: null } }, 'metadata.a'],
    ['apiKeys.create', { permissions: { inbox_read: null } }, 'permissions.inbox_read'],
  ])('as a value of a map: %s %j', (id, given, at) => {
    expect(refusal(id, given)).toEqual([at])
  })

  it('as a public key, so that it never makes a bearer key, and as the permissions of one', () => {
    expect(refusal('apiKeys.create', { public_key: null })).toEqual(['public_key'])
    expect(refusal('apiKeys.create', { public_key: { ...KEY, d: null } })).toEqual(['public_key.d'])
    expect(refusal('apiKeys.create', { public_key: KEY, permissions: null })).toEqual(['permissions'])
  })

  it('where at least one member must be given', () => {
    expect(refusal('inboxes.update', { display_name: null, status: null })).toEqual([''])
    expect(refusal('messages.update', { add_labels: null })).toEqual(['add_labels'])
  })
})

describe('a list of strings', () => {
  const lists = Object.values<OperationDefinition>(operations).flatMap(({ id, body }) => {
    const structure = body === undefined ? undefined : structureOf(body)
    if (body === undefined || structure?.kind !== 'object') return []
    return [...structure.members].flatMap(([name, member]) =>
      member.structure.kind === 'list' && member.structure.element.kind === 'value' ? [{ id, body, name }] : [],
    )
  })
  const ONE: Readonly<Record<string, string>> = { event_types: 'message.received' }

  it('is found in every operation that has one', () => {
    expect(lists.length).toBeGreaterThan(15)
  })

  it.each(lists)('$id.$name may be given as its one element', ({ id, body, name }) => {
    const given = (value: unknown) => ({ ...REQUIRED[id], [name]: value })
    const one = ONE[name] ?? 'someone@x.example'
    const result = validateBody(body, given(one))
    expect(result).toMatchObject({ ok: true })
    expect(result).toEqual(validateBody(body, given([one])))
  })
})
