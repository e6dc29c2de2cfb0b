import { readFrame } from '../../src/subscriptions/frames.ts'

describe('readFrame', () => {
  it.each(['', 'hello', '[]', 'null', '1', '{}', '{"type":"publish"}', '{"type":1}', '{"type":"subscribe"'])(
    '%j is foreign',
    (text) => {
      expect(readFrame(text)).toEqual({ type: 'foreign' })
    },
  )

  it.each([{}, { event_types: null, inbox_ids: null, pod_ids: null }, { event_types: [], inbox_ids: [], pod_ids: [] }])(
    'treats %j as the default types of the whole scope',
    (members) => {
      expect(readFrame(JSON.stringify({ type: 'subscribe', ...members }))).toEqual({
        type: 'subscribe',
        eventTypes: undefined,
        inboxIds: undefined,
        podIds: undefined,
        cursors: false,
        resumeFrom: undefined,
        given: Object.fromEntries(Object.entries(members).filter(([, list]) => Array.isArray(list))),
      })
    },
  )

  it('keeps the given lists for the answer, and nothing else', () => {
    const lists = { event_types: ['message.sent', 'message.sent'], inbox_ids: ['Bot@X.example'] }
    const frame = { type: 'subscribe', ...lists, pod_ids: null, other: ['x'] }
    expect(readFrame(JSON.stringify(frame))).toEqual({
      type: 'subscribe',
      eventTypes: ['message.sent'],
      inboxIds: ['bot@x.example'],
      podIds: undefined,
      cursors: false,
      resumeFrom: undefined,
      given: lists,
    })
  })

  it('asks for cursors where it resumes, and takes null for absent', () => {
    const read = (members: object) => readFrame(JSON.stringify({ type: 'subscribe', ...members }))
    expect(read({ resume_from: 'abc' })).toMatchObject({ cursors: true, resumeFrom: 'abc' })
    expect(read({ cursors: true, resume_from: null })).toMatchObject({ cursors: true, resumeFrom: undefined })
    expect(read({ cursors: null })).toMatchObject({ cursors: false, resumeFrom: undefined })
  })

  it('folds inbox ids to lower case', () => {
    expect(readFrame('{"type":"unsubscribe","inbox_ids":["Bot@X.example"]}')).toMatchObject({
      inboxIds: ['bot@x.example'],
    })
  })

  it.each([
    ['an unknown type', { event_types: ['message.received', 'message.moved'] }, ['event_types', 1]],
    ['a string for a list', { inbox_ids: 'a@x.example' }, ['inbox_ids']],
    ['a number among ids', { pod_ids: ['x', 7] }, ['pod_ids', 1]],
    ['eleven ids', { inbox_ids: Array.from({ length: 11 }, (_, index) => `i${index}@x.example`) }, ['inbox_ids']],
  ])('refuses %s and names the path', (_what, members, path) => {
    expect(() => readFrame(JSON.stringify({ type: 'subscribe', ...members }))).toThrow(
      expect.objectContaining({
        code: 'validation_error',
        options: expect.objectContaining({ errors: [expect.objectContaining({ path })] }),
      }),
    )
  })
})
