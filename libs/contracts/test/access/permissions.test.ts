import {
  DENIED_WHILE_UNVERIFIED,
  EVENT_TYPES,
  holdsPermission,
  isPermission,
  LABEL_PERMISSIONS,
  maySeeOnStream,
  missingForEventTypes,
  PERMISSIONS,
  permissionsForEventTypes,
  receivedEventType,
  seesLabels,
  subscribedEventTypes,
  tiersOfPermission,
  visibleLabels,
} from '../../src/access/index.ts'
import { RESTRICTED_LABELS, restrictedAmong } from '../../src/vocabulary/index.ts'

describe('permissions', () => {
  it('are the 47 names, each once', () => {
    expect(PERMISSIONS).toHaveLength(47)
    expect(new Set(PERMISSIONS).size).toBe(47)
  })

  it('include one for each restricted label', () => {
    expect(Object.keys(LABEL_PERMISSIONS)).toEqual([...RESTRICTED_LABELS])
    for (const name of Object.values(LABEL_PERMISSIONS)) expect(isPermission(name)).toBe(true)
  })

  it('are unknown by an inherited or renamed name', () => {
    for (const name of ['toString', '__proto__', 'provider_connect', 'organization_read'])
      expect(isPermission(name)).toBe(false)
  })

  it('are all but app_connect for a key without a list', () => {
    const unrestricted = { permissions: undefined, app_connect: false }
    expect(PERMISSIONS.filter((permission) => !holdsPermission(unrestricted, permission))).toEqual(['app_connect'])
    expect(holdsPermission({ permissions: [], app_connect: true }, 'app_connect')).toBe(true)
  })

  it('include app_connect only by its own flag, even for a key whose list names it', () => {
    expect(holdsPermission({ permissions: ['app_connect'], app_connect: false }, 'app_connect')).toBe(false)
    expect(holdsPermission({ permissions: new Set(['app_connect']), app_connect: false }, 'app_connect')).toBe(false)
  })

  it.each([['a list', ['inbox_read']] as const, ['a set', new Set(['inbox_read'])] as const])(
    'are held by name where a key has %s of them',
    (_form, permissions) => {
      const rights = { permissions, app_connect: false }
      expect(PERMISSIONS.filter((permission) => holdsPermission(rights, permission))).toEqual(['inbox_read'])
    },
  )

  it('hide an item that carries one restricted label which the key may not read', () => {
    const rights = { permissions: ['label_spam_read'], app_connect: false }
    expect(restrictedAmong(['unread', 'trash', 'spam'])).toEqual(['spam', 'trash'])
    expect(seesLabels(rights, ['received', 'unread'])).toBe(true)
    expect(seesLabels(rights, ['received', 'spam'])).toBe(true)
    expect(seesLabels(rights, ['spam', 'trash'])).toBe(false)
    expect(seesLabels({ app_connect: false }, [...RESTRICTED_LABELS])).toBe(true)
  })

  it("make the restricted labels of a key's permissions visible", () => {
    expect(visibleLabels({ permissions: undefined, app_connect: false })).toEqual([...RESTRICTED_LABELS])
    expect(visibleLabels({ permissions: ['label_trash_read', 'label_spam_read'], app_connect: false })).toEqual([
      'spam',
      'trash',
    ])
  })

  it.each([
    ['organization_read', ['organization']],
    ['agent_verify', ['organization']],
    ['pod_create', ['organization']],
    ['pod_delete', ['organization', 'pod']],
    ['inbox_create', ['organization', 'pod']],
    ['domain_read', ['organization', 'pod']],
    ['inbox_read', ['organization', 'pod', 'inbox']],
    ['api_key_create', ['organization', 'pod', 'inbox']],
  ] as const)('let %s be used at %j', (permission, tiers) => {
    expect(tiersOfPermission(permission)).toEqual(tiers)
  })

  it('lists what an unverified organization is denied', () => {
    expect(DENIED_WHILE_UNVERIFIED).toEqual(['api_key_create', 'pod_create', 'pod_update', 'pod_delete', 'app_connect'])
  })
})

describe('event types', () => {
  it('are complete; restricted mail and calendar events are delivered only when named', () => {
    expect(EVENT_TYPES).toHaveLength(17)
    const unnamed = [
      'message.received',
      'message.sent',
      'message.delivered',
      'message.bounced',
      'message.complained',
      'message.rejected',
      'message.opened',
      'domain.verified',
    ]
    for (const named of [undefined, []]) expect(subscribedEventTypes(named)).toEqual(unnamed)
    expect(subscribedEventTypes(['message.received.spam'])).toEqual(['message.received.spam'])
  })

  it.each([
    ['message_read', [], ['message.received.spam', 'calendar.event.created']],
    ['label_spam_read', ['message_read'], ['message.received.blocked', 'message.received.spam']],
    ['label_unauthenticated_read', ['message_read', 'label_spam_read'], ['message.received.unauthenticated']],
    ['calendar_event_read', ['message_read'], ['calendar.event.created']],
    [undefined, [], ['domain.verified']],
  ] as const)('lack %s first on a stream of a key with %j that names %j', (missing, permissions, types) => {
    const credential = { permissions: [...permissions], app_connect: false }
    expect(missingForEventTypes(credential, types, 'stream')).toBe(missing)
    expect(missingForEventTypes({ permissions: undefined, app_connect: false }, types, 'stream')).toBeUndefined()
  })

  it.each([
    ['message.received', [], ['message_read'], true],
    ['message.received', [], ['label_spam_read'], false],
    ['message.delivered', ['spam'], ['message_read'], false],
    ['message.received.blocked', ['spam', 'blocked'], ['message_read', 'label_blocked_read'], false],
    ['domain.verified', [], [], true],
    ['calendar.event.created', [], ['message_read'], false],
    ['calendar.event.created', [], ['calendar_event_read'], true],
    ['label.added', [], undefined, false],
  ])('%s about an item with %j reaches a stream whose key has %j: %s', (type, restricted, permissions, expected) => {
    expect(maySeeOnStream({ permissions, app_connect: false }, { type, restricted })).toBe(expected)
  })

  it.each([
    [['received', 'unread'], 'message.received'],
    [['received', 'spam'], 'message.received.spam'],
    [['spam', 'blocked', 'unauthenticated'], 'message.received.blocked'],
    [['unauthenticated', 'spam'], 'message.received.spam'],
    [['unauthenticated'], 'message.received.unauthenticated'],
  ])('make of a mail stored with %j the type %s', (labels, type) => {
    expect(receivedEventType(labels)).toBe(type)
  })

  it('require message_read on a stream only, and are listed in a fixed order', () => {
    expect(permissionsForEventTypes(['message.sent'], 'webhook')).toEqual([])
    expect(permissionsForEventTypes(['message.sent'], 'stream')).toEqual(['message_read'])
    expect(permissionsForEventTypes(['domain.verified'], 'stream')).toEqual([])
    expect(
      permissionsForEventTypes(
        [
          'calendar.event.created',
          'message.received.unauthenticated',
          'message.received.spam',
          'message.received.blocked',
        ],
        'stream',
      ),
    ).toEqual([
      'message_read',
      'label_spam_read',
      'label_blocked_read',
      'label_unauthenticated_read',
      'calendar_event_read',
    ])
  })
})
