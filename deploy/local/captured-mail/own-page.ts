import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/**
 * Restricts a server on loopback to its own page and to local programs. Otherwise any page shown in a browser could
 * read from it: by CORS, by a WebSocket, or under a name whose owner points it to loopback (DNS rebinding). To be
 * called once the server has all its listeners.
 */
export function restrictToOwnPage(server: Server, port: number): void {
  const hosts = new Set(['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}:${port}`))
  const origins = new Set([...hosts].map((host) => `http://${host}`))
  const isOwn = ({ headers: { host = '', origin } }: IncomingMessage) =>
    hosts.has(host.toLowerCase()) && (origin === undefined || origins.has(origin.toLowerCase()))

  const [onRequest, onUpgrade] = [server.listeners('request'), server.listeners('upgrade')]
  server.removeAllListeners('request')
  server.removeAllListeners('upgrade')
  server.on('request', (request, response) => {
    if (!isOwn(request)) {
      response.writeHead(403, { 'content-type': 'text/plain' }).end('This page is for its own address on loopback.\n')
      return
    }
    withoutCors(response)
    for (const listener of onRequest) Reflect.apply(listener, server, [request, response])
  })
  server.on('upgrade', (request, socket, head) => {
    if (isOwn(request)) for (const listener of onUpgrade) Reflect.apply(listener, server, [request, socket, head])
    else socket.destroy()
  })
}

function withoutCors(response: ServerResponse): void {
  const setHeader = response.setHeader.bind(response)
  response.setHeader = (name, value) => (/^access-control-/i.test(name) ? response : setHeader(name, value))
}
