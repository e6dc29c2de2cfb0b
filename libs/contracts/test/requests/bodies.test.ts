import { type OperationId, operations } from '../../src/operations/index.ts'
import { validate, validateBody } from '../../src/validation/index.ts'

function body(id: OperationId, given: unknown): unknown {
  const schema = operations[id].body
  if (schema === undefined) throw new Error(`${id} takes no body`)
  const result = validateBody(schema, given)
  return result.ok
    ? result.value
    : Object.fromEntries(result.errors.map(({ path, message }) => [path.join('.'), message]))
}

describe('every request body', () => {
  it('drops unknown members', () => {
    expect(body('messages.send', { to: 'a@b.example', body: 'ignored' })).toEqual({ to: ['a@b.example'] })
  })

  it('refuses other types without coercion', () => {
    expect(body('messages.send', { html: 5, track_opens: 'true' })).toEqual({
      html: 'Must be a string',
      track_opens: 'Must be a boolean',
    })
  })

  it('names missing required members', () => {
    expect(body('webhooks.create', {})).toEqual({ url: 'Required', event_types: 'Required' })
    expect(body('apiKeys.create', { public_key: {} })).toMatchObject({
      'public_key.kty': 'Required',
      'public_key.crv': 'Required',
    })
  })

  it('counts characters, not UTF-16 units or bytes', () => {
    const drawn = '\u{1f600}'.repeat(256)
    expect(body('pods.create', { name: drawn })).toEqual({ name: drawn })
    expect(body('inboxes.create', { display_name: `${drawn}.` })).toEqual({
      display_name: 'Must be at most 256 characters',
    })
    expect(body('messages.update', { add_labels: drawn })).toEqual({ add_labels: [drawn] })
    expect(validate(operations['inboxes.search'].query, { q: '\u{1f600}' })).toMatchObject({ ok: false })
  })

  it('refuses NUL and broken characters, which neither mail nor the database can store', () => {
    expect(body('messages.send', { text: 'a\u0000b', html: '\ud800' })).toEqual({
      text: 'Must not contain NUL or broken characters',
      html: 'Must not contain NUL or broken characters',
    })
  })
})

describe('a send', () => {
  it('refuses line breaks in values for headers', () => {
    const message = 'Must not contain line breaks or other control characters'
    expect(
      body('messages.send', {
        to: ['ok@x.example', 'a@x.example\r\nBcc: b@x.example'],
        subject: 'Hi\nthere',
        headers: { 'X-Ok': 'a\nb' },
        attachments: [{ content: '', filename: 'a\nb' }],
      }),
    ).toEqual({ 'to.1': message, subject: message, 'headers.X-Ok': message, 'attachments.0.filename': message })
  })

  it('accepts at most 50 recipients in total', () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@x.example`)
    expect(body('messages.send', { to: many(20), cc: many(20), bcc: many(11) })).toEqual({
      to: 'At most 50 recipients in to, cc and bcc together',
    })
    expect(body('messages.send', { to: many(20), cc: many(20), bcc: many(10) })).toHaveProperty('bcc')
  })

  it('accepts an attachment with exactly one source', () => {
    const source = 'Give exactly one of content, url, and message_id with attachment_id'
    const address = 'Must be an http or https URL, or mid:<message id>/<attachment id>'
    const attachments = [
      {},
      { content: 'aGk=', url: 'https://x.example/a' },
      { content: 'not base64!' },
      { url: 'file:///etc/passwd' },
      { url: 'drive:/report.pdf' },
      { message_id: '<a@x.example>' },
      { attachment_id: 'b', content: 'aGk=' },
      { file_id: 'f' },
      { message_id: '<a@x.example>', attachment_id: 'b', inbox_id: 'desk@x.example' },
      { url: 'mid:a%2Fb%40x.example/0b5c1f0e' },
    ]
    expect(body('messages.send', { attachments })).toEqual({
      'attachments.0': source,
      'attachments.1': source,
      'attachments.2.content': 'Must be base64',
      'attachments.3.url': address,
      'attachments.4.url': address,
      'attachments.5': 'Give both message_id and attachment_id',
      'attachments.6': source,
      'attachments.7': source,
    })
  })

  it.each(['aGk=', 'aGk', 'aGVs\r\nbG8=', ''])('accepts %j as base64', (content) => {
    expect(body('messages.send', { attachments: [{ content }] })).toEqual({ attachments: [{ content }] })
  })

  it('compares header names ignoring case and accepts only text values', () => {
    expect(body('messages.send', { headers: { 'X-A': '1', 'x-a': '2', 'X B': '3', 'X-C': null } })).toEqual({
      'headers.x-a': 'Given twice; header names compare without case',
      'headers.X B': 'Not a valid header name',
      'headers.X-C': 'Must be a string',
    })
  })

  it('allows reply_all only without recipients, and ignores them for reply-all', () => {
    const message = 'reply_all derives the recipients; leave out to, cc and bcc'
    expect(body('messages.reply', { reply_all: true, cc: 'a@x.example' })).toEqual({ reply_all: message })
    expect(body('messages.reply', { reply_all: true })).toEqual({ reply_all: true })
    expect(body('messages.replyAll', { to: 5, text: 'ok' })).toEqual({ text: 'ok' })
  })
})

describe('labels of a message', () => {
  it('are trimmed, folded, each once, and `draft` is ignored', () => {
    expect(body('messages.update', { add_labels: [' VIP ', 'vip', 'draft'], remove_labels: 'Unread' })).toEqual({
      add_labels: ['vip'],
      remove_labels: ['unread'],
    })
  })

  it.each(['received', 'sent', 'bounced', 'complained', 'delayed', 'delivered', 'rejected', 'opened', 'scheduled'])(
    'never include %s',
    (label) => {
      const message = `Cannot use system label: ${label}`
      expect(body('messages.update', { remove_labels: ['ok', ` ${label.toUpperCase()}`] })).toEqual({
        'remove_labels.1': message,
      })
      expect(body('messages.send', { labels: [label] })).toEqual({ 'labels.0': message })
    },
  )

  it.each(['spam', 'blocked', 'unauthenticated', 'trash', 'unread'])('may include %s', (label) => {
    expect(body('messages.update', { add_labels: [label] })).toEqual({ add_labels: [label] })
  })

  it('are bounded in length and number, and never empty', () => {
    expect(body('messages.update', { add_labels: [' '] })).toEqual({ 'add_labels.0': 'A label must not be empty' })
    expect(body('messages.update', { add_labels: ['x'.repeat(257)] })).toEqual({
      'add_labels.0': 'Must be at most 256 characters',
    })
    expect(body('messages.update', { add_labels: Array.from({ length: 257 }, (_, n) => `l${n}`) })).toEqual({
      add_labels: 'Must have at most 256 items',
    })
  })

  it.each([{}, { add_labels: [] }, { remove_labels: [], add_labels: [] }])('must be given: %j', (given) => {
    expect(body('messages.update', given)).toHaveProperty('add_labels')
  })
})

describe('the body for an inbox', () => {
  it.each(['.a', 'a.', 'a..b', 'a+b', 'a@b', '', 'x'.repeat(65), 'ü'])('is not named %j', (username) => {
    expect(body('inboxes.create', { username })).toHaveProperty('username', expect.stringContaining('1 to 64'))
  })

  it('folds its name, trims its display name', () => {
    expect(body('inboxes.create', { username: 'Sales.EU', display_name: ' Sales ', metadata: {} })).toEqual({
      username: 'sales.eu',
      display_name: 'Sales',
      metadata: {},
    })
  })

  it('accepts flat metadata without nulls', () => {
    expect(body('inboxes.create', { metadata: { a: null, b: {}, c: [1], d: 'x'.repeat(257), ok: true } })).toEqual({
      'metadata.a': 'Must be a string, a number or true or false',
      'metadata.b': 'Must be a string, a number or true or false',
      'metadata.c': 'Must be a string, a number or true or false',
      'metadata.d': 'Must be at most 256 characters, without NUL',
    })
  })

  it('refuses the metadata key __proto__ instead of losing it', () => {
    const given: unknown = JSON.parse('{"__proto__":"a","constructor":"b"}')
    const refused = { 'metadata.__proto__': 'This key cannot be used' }
    expect(body('inboxes.create', { metadata: given })).toEqual(refused)
    expect(body('inboxes.update', { metadata: given })).toEqual(refused)
    expect(body('messages.send', { headers: given })).toEqual({ 'headers.__proto__': 'Not a valid header name' })
  })

  it('is an object', () => {
    for (const [given, message] of [
      [[], 'Must be an object'],
      ['a', 'Must be an object'],
    ]) {
      expect(body('inboxes.create', { metadata: given })).toEqual({ metadata: message })
    }
  })

  it('is updated by at least one member; null removes metadata, or one key of it', () => {
    expect(body('inboxes.update', { username: 'other' })).toEqual({
      '': 'Give at least one of display_name, status, metadata',
    })
    expect(body('inboxes.update', { metadata: null })).toEqual({ metadata: null })
    expect(body('inboxes.update', { metadata: { a: null, b: 1 } })).toEqual({ metadata: { a: null, b: 1 } })
    expect(body('inboxes.update', { metadata: {} })).toEqual({ metadata: 'Must have at least one key' })
    expect(body('inboxes.update', { display_name: '' })).toEqual({ display_name: '' })
  })
})

describe('the body for an API key', () => {
  it('drops unknown permissions, refuses renamed ones and other values than true and false', () => {
    expect(body('apiKeys.create', { permissions: { inbox_read: true, message_read: false, nope: 5 } })).toEqual({
      permissions: { inbox_read: true, message_read: false },
    })
    expect(
      body('apiKeys.create', {
        permissions: { provider_connect: true, provider_share_owner: false, inbox_read: 'yes' },
      }),
    ).toEqual({
      'permissions.provider_connect': 'This permission is now called app_connect',
      'permissions.provider_share_owner': 'This permission is now called app_share_owner',
      'permissions.inbox_read': 'Must be true or false',
    })
    expect(body('apiKeys.create', { permissions: null })).toEqual({ permissions: null })
    expect(body('apiKeys.create', { permissions: [] })).toEqual({ permissions: 'Must be an object' })
  })

  it('never creates a bearer key when a public key was intended', () => {
    for (const publicKey of [null, 'x'])
      expect(body('apiKeys.create', { public_key: publicKey })).toHaveProperty('public_key')
    expect(body('apiKeys.create', { public_key: {} })).toHaveProperty(['public_key.kty'])
  })

  it('expires in the future, and that cannot be changed', () => {
    expect(body('apiKeys.create', { expires_at: '2020-01-01T00:00:00Z' })).toEqual({
      expires_at: 'Must be in the future',
    })
    expect(body('apiKeys.create', { expires_at: '2999-01-01T00:00:00+01:00' })).toEqual({
      expires_at: new Date('2998-12-31T23:00:00.000Z'),
    })
    expect(body('apiKeys.update', { name: 'a', expires_at: '2999-01-01T00:00:00Z' })).toHaveProperty('expires_at')
    expect(body('apiKeys.update', {})).toEqual({ '': 'Give at least one of name, permissions' })
    expect(body('apiKeys.update', { permissions: null })).toEqual({ permissions: null })
  })
})

describe('the body for a webhook', () => {
  const base = { url: 'https://x.example/hook', event_types: ['message.received'] }

  it('names an unknown event type, and drops repetitions', () => {
    expect(body('webhooks.create', { ...base, event_types: ['message.sent', 'label.added'] })).toEqual({
      'event_types.1': 'Unknown event type: label.added',
    })
    expect(
      body('webhooks.create', { ...base, event_types: ['message.sent', 'domain.verified', 'message.sent'] }),
    ).toEqual({
      ...base,
      event_types: ['message.sent', 'domain.verified'],
    })
    expect(body('webhooks.create', { ...base, event_types: [] })).toHaveProperty('event_types')
  })

  it.each([
    'x',
    '/hook',
    'ftp://x.example',
    'https://u:p@x.example/',
    'https://x.example/#a',
    `https://x.example/${'a'.repeat(2048)}`,
  ])('has no URL like %s', (url) => {
    expect(body('webhooks.create', { ...base, url })).toHaveProperty('url', expect.stringMatching(/^Must be/))
  })

  it.each([
    ...['svix-id', 'Webhook-Signature', 'content-type', 'HOST', 'connection', 'transfer-encoding', 'User-Agent'],
    ...['Accept-Encoding', 'te', 'trailer', 'Expect', 'upgrade', 'keep-alive'],
  ])('does not set the header %s', (name) => {
    expect(body('webhooks.create', { ...base, headers: { [name]: 'x' } })).toEqual({
      [`headers.${name}`]: 'This header is set by the service',
    })
  })

  it('bounds its headers and filters', () => {
    const twentyOne = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, 'v']))
    expect(body('webhooks.create', { ...base, headers: twentyOne })).toEqual({
      headers: 'Must have at most 20 entries',
    })
    expect(body('webhooks.create', { ...base, headers: {} })).toEqual({ headers: 'Must have at least 1 entry' })
    expect(body('webhooks.create', { ...base, headers: { a: 'x'.repeat(4096) } })).toEqual({
      headers: 'Must be at most 4096 bytes together',
    })
    expect(body('webhooks.create', { ...base, inbox_ids: Array.from({ length: 11 }, (_, n) => `${n}`) })).toEqual({
      inbox_ids: 'Must have at most 10 items',
    })
    expect(body('webhooks.create', { ...base, inbox_ids: ['A@X.example', 'a@x.example'] })).toMatchObject({
      inbox_ids: ['a@x.example'],
    })
  })

  it('may change nothing', () => {
    expect(body('webhooks.update', {})).toEqual({})
    expect(body('webhooks.update', { event_types: [], url: 1, secret: 1 })).toEqual({ event_types: [] })
    expect(body('webhooks.update', { event_types: ['x'], enabled: 'yes' })).toEqual({
      'event_types.0': 'Unknown event type: x',
      enabled: expect.any(String),
    })
  })

  it('sets or removes at least one header, and none both', () => {
    const nothing = 'Give at least one header to set or name to remove'
    expect(body('webhooks.updateHeaders', {})).toEqual({ '': nothing })
    expect(body('webhooks.updateHeaders', { headers: {}, remove_headers: [] })).toEqual({ '': nothing })
    expect(body('webhooks.updateHeaders', { headers: {}, remove_headers: ['A'] })).toEqual({
      headers: {},
      remove_headers: ['A'],
    })
    expect(body('webhooks.updateHeaders', { headers: { 'X-A': '1', 'x-b': '2' }, remove_headers: ['x-a'] })).toEqual({
      'headers.X-A': 'Also in remove_headers; set it or remove it',
    })
    expect(body('webhooks.updateHeaders', { headers: { 'svix-id': '1' } })).toEqual({
      'headers.svix-id': 'This header is set by the service',
    })
  })
})

describe('agent sign-up', () => {
  it('folds its name and the address of its human', () => {
    expect(body('agent.signUp', { username: 'Bot', human_email: ' Ada@Customer.TEST ' })).toEqual({
      username: 'bot',
      human_email: 'ada@customer.test',
    })
    const nobody = [
      'a@b',
      'a@[127.0.0.1]',
      'a@1.2',
      `a@${'b'.repeat(64)}.test`,
      `${'a'.repeat(65)}@b.test`,
      'a@-b.test',
    ]
    for (const human_email of nobody) expect(body('agent.human', { human_email })).toHaveProperty('human_email')
    expect(body('agent.human', { human_email: "o'é+1@b-c.xn--p1ai" })).toEqual({ human_email: "o'é+1@b-c.xn--p1ai" })
    expect(body('agent.signUp', { username: 'bot', human_email: 'a@x.example, b@x.example' })).toHaveProperty(
      'human_email',
    )
    expect(body('agent.signUp', { username: 'bot', source: 'x'.repeat(2049) })).toEqual({
      source: 'Must be at most 2048 characters',
    })
  })

  it('accepts a code of six digits, as text', () => {
    expect(body('agent.verify', { otp_code: ' 012345 ' })).toEqual({ otp_code: '012345' })
    expect(body('agent.verify', { otp_code: 123456 })).toEqual({ otp_code: 'Must be a string' })
    expect(body('agent.verify', { otp_code: '12345' })).toEqual({ otp_code: 'Must be exactly 6 digits' })
  })
})
