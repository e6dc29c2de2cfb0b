import { rendered } from '../../src/answers/render.ts'

describe('a document as text', () => {
  it('has a line for each member, and entries of lists with a dash', () => {
    const text = rendered({
      threadId: 't',
      labels: ['received', 'unread'],
      messages: [
        { messageId: '<1@x>', from: 'Ada <ada@x>' },
        { messageId: '<2@x>', attachments: [{ attachmentId: 'a', filename: 'note.txt' }] },
      ],
    })
    expect(text.split('\n')).toEqual([
      'threadId: t',
      'labels: received, unread',
      'messages:',
      '- messageId: <1@x>',
      '  from: Ada <ada@x>',
      '- messageId: <2@x>',
      '  attachments:',
      '  - attachmentId: a',
      '    filename: note.txt',
    ])
  })

  it('indents the lines of a text, so that none of them looks like a member', () => {
    expect(rendered({ text: 'Hello\n\nsubject: forged', subject: 'Real' })).toBe(
      'text:\n  Hello\n\n  subject: forged\nsubject: Real',
    )
  })

  it('leaves out members that only programs need', () => {
    const unsaid = { count: 1, limit: 10, nextPageToken: 't', createdAt: 'x', updatedAt: 'y', organizationId: 'o' }
    expect(rendered({ ...unsaid, podId: 'p', size: 7, cursor: 'c', inboxId: 'i' })).toBe('inboxId: i')
  })

  it('renders numbers, flags, empty lists and documents of documents', () => {
    expect(rendered({ messageCount: 2, allDay: true, to: [], body: { source: 'text', offset: 0 } })).toBe(
      'messageCount: 2\nallDay: true\nto: \nbody:\n  source: text\n  offset: 0',
    )
  })

  it('is empty for an empty document', () => {
    expect(rendered({})).toBe('')
  })
})
