import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { captureCommand } from '@restante/local/captured-mail.ts'
import { listens } from '@restante/local/processes.ts'
import { freePort, sendMail, waitFor } from '@restante/testkit'
import { CapturedMails } from './captured-mail.ts'

describe('mail sent from the local stack', () => {
  let folder: string
  let smtp: number
  let web: number
  let capture: ChildProcess
  beforeAll(async () => {
    ;[folder, smtp, web] = await Promise.all([mkdtemp(path.join(tmpdir(), 'captured-')), freePort(), freePort()])
    await start()
  })
  afterAll(async () => {
    await stop()
    await rm(folder, { recursive: true, force: true })
  })

  async function start(): Promise<void> {
    const [program, ...args] = captureCommand({ smtp, web, folder })
    capture = spawn(program, args, { stdio: 'ignore' })
    await waitFor(async () => (await listens(smtp)) && (await listens(web)), { what: 'MailDev' })
  }

  async function stop(): Promise<void> {
    const ended = once(capture, 'exit')
    capture.kill()
    await ended
  }

  const leave = (to: string) => sendMail({ port: smtp, from: 'agent@restante.test', to, subject: to, text: 'words' })

  it('is found by its recipient, also after a restart of the stack', async () => {
    const mails = new CapturedMails(`http://127.0.0.1:${web}`)
    await leave('first@elsewhere.test')
    expect((await mails.next('first@elsewhere.test', () => true)).subject).toBe('first@elsewhere.test')
    await stop()
    await start()
    await leave('second@elsewhere.test')
    expect((await mails.next('second@elsewhere.test', () => true)).subject).toBe('second@elsewhere.test')
  })

  describe('is inaccessible for pages of other origins:', () => {
    const own = () => `http://127.0.0.1:${web}`
    /** The `fetch` of Node sets neither Host nor Origin as a browser may. */
    const ask = (headers: Record<string, string>, upgrade = false) =>
      new Promise<{ status: number; headers: IncomingHttpHeaders }>((resolve, reject) => {
        const more = upgrade && { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
        const key = upgrade && { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
        const path = upgrade ? '/socket.io/?EIO=4&transport=websocket' : '/email'
        const call = request({ host: '127.0.0.1', port: web, path, headers: { ...headers, ...more, ...key } })
        call.on('response', (response) => {
          response.resume()
          resolve({ status: response.statusCode ?? 0, headers: response.headers })
        })
        call.on('upgrade', (response, socket) => {
          socket.destroy()
          resolve({ status: response.statusCode ?? 0, headers: response.headers })
        })
        call.on('error', reject)
        call.end()
      })

    it('no response can be read across origins', async () => {
      const { status, headers } = await ask({ origin: own() })
      expect(status).toBe(200)
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    })

    it.each([
      [{ origin: 'https://evil.test' }],
      [{ origin: 'null' }],
      [{ origin: 'http://localhost:3000' }],
      [{ host: 'rebound.evil.test' }],
    ])('requests with %j are refused', async (headers) => {
      expect((await ask(headers)).status).toBe(403)
      await expect(ask(headers, true)).rejects.toThrow()
    })

    it('its own page works, with its WebSocket', async () => {
      expect(await (await fetch(`${own()}/`)).text()).toContain('<html')
      expect((await ask({ origin: own() }, true)).status).toBe(101)
      expect((await ask({ host: `localhost:${web}`, origin: `http://localhost:${web}` }, true)).status).toBe(101)
    })
  })
})
