import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerOptions } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { GuardedFetch, OutboundNetworkError } from '../../src/outbound/index.ts'

const LIMITS = { timeoutMs: 60_000, maxBytes: 1_000 }

describe('TLS to a URL of a user', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'restante-tls-'))
  const servers: Server[] = []
  const clients: GuardedFetch[] = []
  let key: Buffer
  let cert: Buffer

  beforeAll(() => {
    const [keyFile, certFile] = ['key.pem', 'cert.pem'].map((file) => path.join(directory, file))
    const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=hooks`.split(' ')
    const files = ['-keyout', keyFile ?? '', '-out', certFile ?? '', '-addext', 'subjectAltName=DNS:localhost']
    execFileSync('openssl', [...request, ...files], { stdio: 'ignore' })
    key = readFileSync(keyFile ?? '')
    cert = readFileSync(certFile ?? '')
  })
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.stop()))
    for (const server of servers) server.closeAllConnections()
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    rmSync(directory, { recursive: true })
  })

  async function serve(options: ServerOptions = {}): Promise<number> {
    const server = createServer({ ...options, key, cert }, (_request, response) => response.end('secure'))
    servers.push(server.listen(0, '127.0.0.1'))
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    return address.port
  }

  function client(options: { ca?: string } = {}): GuardedFetch {
    const created = new GuardedFetch({ version: '1', allow: { loopback: true }, ...options })
    clients.push(created)
    return created
  }

  it('accepts a certificate that a trusted authority has signed for the name', async () => {
    const port = await serve()
    const response = await client({ ca: cert.toString() }).fetch(`https://localhost:${port}/`, LIMITS)
    expect(response.body.toString()).toBe('secure')
  })

  it('refuses a certificate of an untrusted authority, whatever the environment says', async () => {
    const port = await serve()
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    const attempt = client().fetch(`https://localhost:${port}/`, LIMITS)
    await expect(attempt).rejects.toMatchObject({ networkCode: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  })

  it('refuses a certificate of another name', async () => {
    const port = await serve()
    const attempt = client({ ca: cert.toString() }).fetch(`https://127.0.0.1:${port}/`, LIMITS)
    await expect(attempt).rejects.toMatchObject({ networkCode: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })

  it('refuses a server that offers nothing newer than TLS 1.1', async () => {
    const port = await serve({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })
    const attempt = client({ ca: cert.toString() }).fetch(`https://localhost:${port}/`, LIMITS)
    await expect(attempt).rejects.toBeInstanceOf(OutboundNetworkError)
  })
})
