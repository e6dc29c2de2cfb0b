import { Router } from '../src/http/router.ts'

function table(): Router<string> {
  const router = new Router<string>()
  router.add('GET', '/v0/inboxes', 'list')
  router.add('POST', '/v0/inboxes', 'create')
  router.add('GET', '/v0/inboxes/{inbox_id}', 'get')
  router.add('GET', '/v0/inboxes/search', 'search')
  router.add('GET', '/v0/inboxes/{inbox_id}/messages/{message_id}', 'message')
  router.add('POST', '/v0/inboxes/{inbox_id}/messages/send', 'send')
  return router
}

describe('Router', () => {
  it.each([
    ['GET', '/v0/inboxes', 'list', {}],
    ['GET', '/v0/inboxes/', 'list', {}],
    ['HEAD', '/v0/inboxes', 'list', {}],
    ['GET', '/v0/inboxes/search', 'search', {}],
    ['GET', '/v0/inboxes/bot@x.example', 'get', { inbox_id: 'bot@x.example' }],
    ['GET', '/v0/inboxes/bot%40x.example', 'get', { inbox_id: 'bot@x.example' }],
    ['GET', '/v0/inboxes/a/messages/%3Ca%2Fb%2Bc%40x.y%3E', 'message', { inbox_id: 'a', message_id: '<a/b+c@x.y>' }],
    ['GET', '/v0/inboxes/a/messages/<a+c@x.y>', 'message', { inbox_id: 'a', message_id: '<a+c@x.y>' }],
    ['GET', '/v0/inboxes/search/messages/m', 'message', { inbox_id: 'search', message_id: 'm' }],
  ])('%s %s is %s', (method, path, value, params) => {
    expect(table().match(method, path)).toEqual({ value, params })
  })

  it.each(['/v0', '/v0/inboxes//messages/m', '/v0/inboxes/a/b', '/v0/inboxes/%E0%A4%A', '/v0/inboxes/a%00', '//', '/'])(
    '%s leads nowhere',
    (path) => {
      expect(table().match('GET', path)).toBeUndefined()
    },
  )

  it('names the methods of a path that lacks the asked one', () => {
    expect(table().match('DELETE', '/v0/inboxes')).toEqual({ allowed: ['GET', 'POST'] })
  })

  it('refuses to define a route twice', () => {
    expect(() => table().add('GET', '/v0/inboxes/{other}', 'x')).toThrow('defined twice')
  })
})
