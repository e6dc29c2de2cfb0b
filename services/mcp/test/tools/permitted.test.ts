import { type Caller, isPermission, PERMISSIONS } from '@restante/contracts/access'
import { type OperationDefinition, type OperationId, operations } from '@restante/contracts/operations'
import { accessOf } from '@restante/contracts/testing'
import type { Tier } from '@restante/contracts/vocabulary'
import { callerOf } from '@restante/testkit'
import { calendarTools } from '../../src/tools/calendar/calendar.ts'
import { describedTools, TOOLS } from '../../src/tools/catalogue.ts'
import { mayCall } from '../../src/tools/permitted.ts'

/** Operations that some tool needs. */
const NEEDED: readonly OperationId[] = [...new Set(TOOLS.flatMap(({ needs }) => needs))]

interface Key {
  readonly tier?: Tier
  readonly permissions?: readonly string[]
  readonly unverified?: boolean
  readonly provisional?: boolean
  readonly calendarsClosed?: boolean
}

function keyOf({ tier = 'organization', permissions, unverified = false, provisional = false, ...key }: Key): Caller {
  const { credential, ...caller } = callerOf({ unverified, ...(key.calendarsClosed && { calendar_access: false }) })
  const granted = permissions?.filter(isPermission)
  return { ...caller, credential: { ...credential, tier, provisional, ...(granted && { permissions: granted }) } }
}

const namesFor = (key: Key): unknown[] => describedTools(keyOf(key)).map(({ name }) => name)

describe('what a key may call', () => {
  const kinds = [
    ['organization', { tier: 'organization' }],
    ['pod', { tier: 'pod' }],
    ['inbox', { tier: 'inbox' }],
    ['unverified organization', { tier: 'organization', unverified: true }],
    ['provisional key', { tier: 'organization', provisional: true }],
  ] as const

  it.each(kinds)('is what the route table says: %s', (credential, key) => {
    for (const id of NEEDED) {
      const operation: OperationDefinition = operations[id]
      const others = PERMISSIONS.filter((name) => name !== operation.permission)
      for (const [permitted, permissions] of [
        [true, [operation.permission]],
        [false, others],
      ] as const) {
        const { code } = accessOf(operation, 'organization', credential, permitted)
        expect([id, permitted, mayCall(keyOf({ ...key, permissions }), id)]).toEqual([
          id,
          permitted,
          code !== 'missing_permission',
        ])
      }
    }
  })
})

describe('the tools that a key sees', () => {
  it('are all of them without restrictions, the public ones first', () => {
    expect(namesFor({})).toEqual(TOOLS.map(({ name }) => name))
    expect(namesFor({}).indexOf('auth_me')).toBe(23)
  })

  it('are those whose permission it holds', () => {
    expect(namesFor({ permissions: [] })).toEqual(['auth_me'])
    expect(namesFor({ permissions: ['inbox_read'] })).toEqual(['list_inboxes', 'get_inbox', 'auth_me'])
    expect(namesFor({ permissions: ['message_send'] })).toEqual([
      'send_message',
      'reply_to_message',
      'forward_message',
      'auth_me',
    ])
    expect(namesFor({ permissions: ['message_read'] })).toContain('wait_for_message')
  })

  it('leave out those of a wider tier', () => {
    const missing = TOOLS.map(({ name }) => name).filter((name) => !namesFor({ tier: 'inbox' }).includes(name))
    expect(missing).toEqual(['create_inbox'])
  })

  it('leave out what is denied to an organization that is not verified', () => {
    expect(namesFor({ unverified: true })).toContain('send_message')
  })

  it('leave out those of calendars where the organization has none', () => {
    const left = namesFor({ calendarsClosed: true })
    const missing = TOOLS.filter(({ name }) => !left.includes(name))
    expect(missing.map(({ name }) => name)).toEqual(calendarTools.map(({ name }) => name))
  })
})
