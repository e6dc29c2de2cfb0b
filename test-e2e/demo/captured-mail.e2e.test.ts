import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { captureCommand } from '@restante/local/captured-mail.ts'
import { listens } from '@restante/local/processes.ts'
import { freePort, sendMail, waitFor } from '@restante/testkit'
import { CapturedMails } from './captured-mail.ts'

describe('mail that left the local stack', () => {
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
    await waitFor(async () => (await listens(smtp)) && (await listens(web)), { what: 'MailDev', timeout: 20_000 })
  }

  async function stop(): Promise<void> {
    const ended = once(capture, 'exit')
    capture.kill()
    await ended
  }

  const leave = (to: string) => sendMail({ port: smtp, from: 'agent@restante.test', to, subject: to, text: 'words' })

  it('is found by its recipient, in a stack that was stopped and started again too', async () => {
    const mails = new CapturedMails(`http://127.0.0.1:${web}`)
    await leave('first@elsewhere.test')
    expect((await mails.next('first@elsewhere.test', () => true)).subject).toBe('first@elsewhere.test')
    await stop()
    await start()
    await leave('second@elsewhere.test')
    expect((await mails.next('second@elsewhere.test', () => true)).subject).toBe('second@elsewhere.test')
  }, 60_000)
})
