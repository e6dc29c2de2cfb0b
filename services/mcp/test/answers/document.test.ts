import { camelCase, modelDocument, snakeCase } from '../../src/answers/document.ts'

describe('a document for a model', () => {
  it('has names in camelCase at every depth, in lists too', () => {
    const document = modelDocument({
      inbox_id: 'a@b.test',
      attachments: [{ attachment_id: 'one', content_type: 'text/plain' }],
      highlights: { subject: ['a'], deep_er: { in_side: [[{ last_one: 1 }]] } },
    })
    expect(document).toEqual({
      inboxId: 'a@b.test',
      attachments: [{ attachmentId: 'one', contentType: 'text/plain' }],
      highlights: { subject: ['a'], deepEr: { inSide: [[{ lastOne: 1 }]] } },
    })
  })

  it('keeps the names that users gave to metadata', () => {
    const metadata = { order_id: 7, Snake_Case: true, plain: 'text' }
    expect(modelDocument({ metadata })).toEqual({ metadata })
  })

  it('has neither HTML nor raw headers, at any depth', () => {
    const left = { html: '<p>', extracted_html: '<p>', headers: { a: 'b' }, references: ['<x@y>'] }
    expect(modelDocument({ ...left, text: 'kept', messages: [{ ...left, text: 'kept' }] })).toEqual({
      text: 'kept',
      messages: [{ text: 'kept' }],
    })
  })

  it('leaves out what is undefined, and keeps what is null, false, zero or empty', () => {
    const kept = { a: null, b: false, c: 0, d: '', e: [], f: {} }
    expect(modelDocument({ ...kept, gone: undefined })).toEqual(kept)
  })

  it('keeps lines of prose, and makes one line of what should have one', () => {
    const { text, subject } = modelDocument({ text: 'one\ntwo', subject: 'one\r\n two' })
    expect([text, subject]).toEqual(['one\ntwo', 'one two'])
  })

  it.each([
    ['inbox_id', 'inboxId'],
    ['a_b_c', 'aBC'],
    ['sha_256', 'sha256'],
    ['plain', 'plain'],
  ])('spells %s as %s', (snake, camel) => {
    expect(camelCase(snake)).toBe(camel)
  })

  it('spells argument names as the API does', () => {
    expect(['inboxId', 'pageToken', 'q', 'includeUnauthenticated'].map(snakeCase)).toEqual([
      'inbox_id',
      'page_token',
      'q',
      'include_unauthenticated',
    ])
  })
})
