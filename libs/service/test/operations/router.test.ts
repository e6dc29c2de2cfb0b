import { Router } from '../../src/http/operations/router.ts'

function table(): Router<string> {
  const router = new Router<string>()
  router.add('GET', '/v0/inboxes', 'list')
  router.add('POST', '/v0/inboxes', 'create')
  router.add('GET', '/v0/inboxes/{inbox_id}', 'get')
  router.add('GET', '/v0/inboxes/search', 'search')
  router.add('GET', '/v0/inboxes/{inbox_id}/messages/{message_id}', 'message')
  router.add('GET', '/v0/inboxes/{inbox_id}/messages/{message_id}/raw', 'raw')
  router.add('POST', '/v0/inboxes/{inbox_id}/messages/send', 'send')
  router.reserve('/v0/inboxes/{inbox_id}/messages/batch-get')
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
    ['GET', '/v0/inboxes/a/messages/<a/b/c@x.y>', 'message', { inbox_id: 'a', message_id: '<a/b/c@x.y>' }],
    ['GET', '/v0/inboxes/a/messages/%3Ca/b%2Fc@x.y%3E/', 'message', { inbox_id: 'a', message_id: '<a/b/c@x.y>' }],
    ['GET', '/v0/inboxes/a/messages/<a/b>/raw', 'raw', { inbox_id: 'a', message_id: '<a/b>' }],
    ['GET', '/v0/inboxes/a/messages/<a>/raw', 'raw', { inbox_id: 'a', message_id: '<a>' }],
    ['GET', '/v0/inboxes/a/messages/<a/raw', 'raw', { inbox_id: 'a', message_id: '<a' }],
    ['GET', '/v0/inboxes/<a/messages/m>', 'message', { inbox_id: '<a', message_id: 'm>' }],
  ])('%s %s is %s', (method, path, value, params) => {
    expect(table().match(method, path)).toEqual({ value, params, path: expect.any(String) })
  })

  it.each([
    '/v0',
    '/v0/inboxes//messages/m',
    '/v0/inboxes/a/b',
    '/v0/inboxes/%E0%A4%A',
    '/v0/inboxes/a%00',
    '//',
    '/',
    '/v0/inboxes/a/messages/<a/../b>',
    '/v0/inboxes/a/messages/<a/%2e/b>',
    '/v0/inboxes/a/messages/<a//b>',
    '/v0/inboxes/a/messages/<a/b/c',
    '/v0/inboxes/a/messages/a/b>',
  ])('%s matches no route', (path) => {
    expect(table().match('GET', path)).toBeUndefined()
  })

  it.each([
    '/v0/inboxes/search/messages/m',
    '/v0/inboxes/a/messages/batch-get',
    '/v0/inboxes/a/messages/batch-get/raw',
  ])('%s has a fixed segment, which is never taken for an id', (path) => {
    expect(table().match('GET', path)).toBeUndefined()
  })

  it.each([
    ['/v0/inboxes/a%40x/messages/<a/b+c@x.y>/raw/', '/v0/inboxes/a%40x/messages/%3Ca%2Fb%2Bc%40x.y%3E/raw'],
    ['/v0/inboxes/a@x/messages/<a+b@x.y>/raw/', '/v0/inboxes/a@x/messages/<a+b@x.y>/raw/'],
  ])('passes %s on as %s', (path, passed) => {
    expect(table().match('GET', path)).toMatchObject({ value: 'raw', path: passed })
  })

  it('names the allowed methods of a path that lacks the requested one', () => {
    expect(table().match('DELETE', '/v0/inboxes')).toEqual({ allowed: ['GET', 'POST'] })
  })

  it('refuses to define a route twice', () => {
    expect(() => table().add('GET', '/v0/inboxes/{other}', 'x')).toThrow('defined twice')
  })
})
