import { OWNED_ZONE } from '../../stack/names.ts'
import type { ApiDocument, Schema } from './api-document.ts'
import type { Draw } from './draw.ts'
import type { KnownThings } from './known-things.ts'

/** The sources of values. */
export interface Source {
  readonly draw: Draw
  readonly known: KnownThings
  readonly document: ApiDocument
  /** A unique word. */
  word(): string
}

type Make = (source: Source, schema: Schema) => unknown

const address: Make = ({ draw, known }) => known.any('address', draw)
const addresses: Make = (source, schema) => [address(source, schema), address(source, schema)]
const instant =
  (fromNow: number): Make =>
  ({ draw }) =>
    new Date(Date.now() + fromNow + draw.below(1_000_000)).toISOString()

/** Members whose meaning is not in their schema. */
const BY_NAME: Readonly<Record<string, Make>> = {
  username: ({ word }) => word(),
  client_id: ({ draw, word }) => (draw.chance(0.3) ? 'the-same-one' : word()),
  human_email: ({ word }) => `${word()}@people.test`,
  otp_code: ({ draw }) => String(100_000 + draw.below(900_000)),
  // One that inboxes may be on, or one that may be registered.
  domain: ({ draw, known, word }) => (draw.chance(0.4) ? `${word()}.${OWNED_ZONE}` : known.any('domain', draw)),
  to: addresses,
  cc: address,
  bcc: address,
  reply_to: address,
  reply_all: () => false,
  // Mostly the state in which other requests can succeed.
  status: ({ draw }, { enum: states = [] }) => (draw.chance(0.1) ? states.at(-1) : states[0]),
  subject: ({ word }) => word(),
  entry: ({ word }) => `${word()}.example`,
  url: () => 'http://127.0.0.1:9/hook',
  attachments: ({ draw }) => [
    { filename: 'größe.txt', content: Buffer.from('text'.repeat(draw.below(50))).toString('base64') },
  ],
  inbox_id: ({ draw, known }) => known.any('inbox_id', draw),
  auth_token: ({ draw, known }) => known.any('auth_token', draw),
  inbox_ids: ({ draw, known }) => [known.any('inbox_id', draw)],
  message_ids: ({ draw, known }) => [known.any('message_id', draw)],
  pod_ids: ({ draw, known }) => [known.any('pod_id', draw)],
  event_types: ({ draw }) => draw.one([['message.received'], ['message.sent', 'message.delivered']]),
  expires_at: instant(86_400_000),
  before: instant(0),
  after: instant(-86_400_000),
  labels: ({ draw }) => draw.one([['one', 'two'], 'one', ['Größe']]),
  add_labels: ({ draw }) => draw.one([['one', 'two'], 'three']),
  remove_labels: () => ['unread'],
  metadata: ({ draw }) => ({ kind: 'box', level: draw.below(9), kept: true }),
  headers: ({ word }) => ({ 'X-Case': word() }),
  start: () => '2030-01-07T09:00:00',
  end: ({ draw }) => `2030-01-07T${10 + draw.below(10)}:00:00`,
  all_day: () => false,
  timezone: ({ draw }) => draw.one(['UTC', 'Europe/Berlin']),
  rule: () => 'FREQ=DAILY;COUNT=3',
  exdates: () => ['2030-01-08T09:00:00'],
  rdates: () => ['2030-02-08T09:00:00'],
  attendees: ({ known, draw }) => [{ email: known.any('address', draw), name: 'Ada' }],
  send_invites: ({ draw }) => draw.chance(0.1),
  send_reply: ({ draw }) => draw.chance(0.1),
  public_key: () => ({
    kty: 'EC',
    crv: 'P-256',
    x: 'axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY',
    y: 'T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU',
  }),
}

/** Members that the schema does not require but most requests need. */
const USUAL = new Set(['to', 'text', 'inbox_id'])

/** A meaningful value that the schema allows. */
export function rightValue(name: string, given: Schema, source: Source): unknown {
  const byName = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined
  return byName === undefined ? bySchema(given, source) : byName(source, source.document.resolve(given))
}

/** The object itself, or one of its alternatives. */
export function alternativesOf(given: Schema, document: ApiDocument): Schema[] {
  const { anyOf, ...own } = document.resolve(given)
  return anyOf === undefined ? [own] : anyOf.map((alternative) => document.resolve(alternative))
}

/** The members that are required, and some of the others. */
export function rightObject(given: Schema, source: Source): Record<string, unknown> {
  const { properties = {}, required = [] } = source.draw.one(alternativesOf(given, source.document))
  const members = Object.entries(properties)
    .filter(([, schema]) => schema.not === undefined)
    .filter(([name]) => required.includes(name) || source.draw.chance(USUAL.has(name) ? 0.9 : 0.35))
    .map(([name, schema]) => [name, rightValue(name, schema, source)] as const)
  return Object.fromEntries(members)
}

function bySchema(given: Schema, source: Source): unknown {
  const { draw } = source
  const schema = source.document.resolve(given)
  if (schema.enum !== undefined) return draw.one(schema.enum)
  if (schema.anyOf !== undefined) return bySchema(draw.one(schema.anyOf), source)
  const { items } = schema
  if (items !== undefined) return draw.several(3, () => bySchema(items, source))
  switch (Array.isArray(schema.type) ? draw.one(schema.type) : schema.type) {
    case 'object':
      return rightObject(schema, source)
    case 'boolean':
      return draw.chance(0.5)
    case 'integer':
    case 'number':
      return 1 + draw.below(100)
    case 'null':
      return null
    default:
      return draw.one(['plain', 'two words', 'Größe', '💌', source.word()])
  }
}
