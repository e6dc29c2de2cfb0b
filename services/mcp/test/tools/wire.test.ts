import { asArguments, onWire } from '../../src/tools/definition/wire.ts'

describe('arguments on their way to the API', () => {
  it('get the names of the API at every depth', () => {
    expect(onWire({ replyTo: ['a@b'], attachments: [{ contentType: 'text/plain', messageId: '<1@x>' }] })).toEqual({
      reply_to: ['a@b'],
      attachments: [{ content_type: 'text/plain', message_id: '<1@x>' }],
    })
  })

  it('keep the names of metadata, and null there, which removes a name', () => {
    expect(onWire({ displayName: 'Ada', metadata: { orderId: 1, gone: null } })).toEqual({
      display_name: 'Ada',
      metadata: { orderId: 1, gone: null },
    })
  })

  it('leave out what was not given', () => {
    expect(onWire({ pageToken: undefined, limit: 10, ascending: false })).toEqual({ limit: 10, ascending: false })
  })
})

describe('arguments as models write them', () => {
  it('are understood in snake_case at every depth', () => {
    expect(asArguments({ inbox_id: 'a', attachments: [{ content_type: 'text/plain', attachment_id: 'x' }] })).toEqual({
      inboxId: 'a',
      attachments: [{ contentType: 'text/plain', attachmentId: 'x' }],
    })
  })

  it('are absent where they are null, at every depth', () => {
    expect(asArguments({ cc: null, attachments: [{ filename: null, url: 'https://x.test/' }] })).toEqual({
      attachments: [{ url: 'https://x.test/' }],
    })
  })

  it('keep metadata as it was written', () => {
    const metadata = { order_id: 1, gone: null }
    expect(asArguments({ metadata })).toEqual({ metadata })
  })

  it('take a value in either spelling beside null in the other', () => {
    expect(asArguments({ inboxId: 'a', inbox_id: null })).toEqual({ inboxId: 'a' })
  })
})
