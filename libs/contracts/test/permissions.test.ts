import {
  DEFAULT_EVENT_TYPES,
  DENIED_WHILE_UNVERIFIED,
  EVENT_TYPES,
  isPermission,
  LABEL_PERMISSIONS,
  PERMISSIONS,
  permissionsForEventTypes,
  RESTRICTED_LABELS,
  receivedEventType,
  tiersOfPermission,
} from '../src/index.ts'

describe('permissions', () => {
  it('are the 47 names, each once', () => {
    expect(PERMISSIONS).toHaveLength(47)
    expect(new Set(PERMISSIONS).size).toBe(47)
  })

  it('hold one for each restricted label', () => {
    expect(Object.keys(LABEL_PERMISSIONS)).toEqual([...RESTRICTED_LABELS])
    for (const name of Object.values(LABEL_PERMISSIONS)) expect(isPermission(name)).toBe(true)
  })

  it('are not known by an inherited or renamed name', () => {
    for (const name of ['toString', '__proto__', 'provider_connect', 'organization_read'])
      expect(isPermission(name)).toBe(false)
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
  it('are complete, and calendar events come only when named', () => {
    expect(EVENT_TYPES).toHaveLength(17)
    expect(DEFAULT_EVENT_TYPES).toHaveLength(11)
    expect(DEFAULT_EVENT_TYPES).toContain('domain.verified')
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

  it('need message_read on a stream only, and are named in the fixed order', () => {
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
