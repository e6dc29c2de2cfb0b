import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { root } from '@restante/local/settings.ts'
import { freePort, pythonEnvironment, waitFor } from '@restante/testkit'
import type { Endpoints } from '../stack/endpoints.ts'

const run = promisify(execFile)

/** The Python environment of all calendar programs of tests. */
export function calendarPrograms(): Promise<string> {
  return pythonEnvironment(path.join(root, 'services/calendar/test/icalendar/write/programs/requirements.txt'))
}

/**
 * The calendar of a person elsewhere: xandikos, a CalDAV server that takes invitations out of mails (RFC 6047) and mails the
 * answers that its user gives with python-caldav to the organizer.
 */
export class OutsideCalendar {
  readonly #python: string
  readonly #url: string
  readonly #folder: string
  readonly #server: ChildProcess

  static async start({ smtpPort }: Endpoints, address: string): Promise<OutsideCalendar> {
    const [python, folder, port] = await Promise.all([
      calendarPrograms(),
      mkdtemp(path.join(tmpdir(), 'xandikos-')),
      freePort(),
    ])
    const place = ['--directory', path.join(folder, 'data'), '--state-dir', path.join(folder, 'state'), '--defaults']
    const listener = ['--listen-address', '127.0.0.1', '--port', String(port), '--no-detect-systemd']
    const mail = ['--imip-send', 'smtp', '--smtp-from', address, '--smtp-host', '127.0.0.1', '--smtp-port']
    const args = ['-m', 'xandikos', 'serve', ...place, ...listener, ...mail, String(smtpPort)]
    const server = spawn(python, args, { stdio: 'ignore', env: { ...process.env, EMAIL: address } })
    const calendar = new OutsideCalendar(python, `http://127.0.0.1:${port}/`, folder, server)
    await waitFor(() => fetch(calendar.#url).catch(() => undefined), { what: 'xandikos' })
    return calendar
  }

  private constructor(python: string, url: string, folder: string, server: ChildProcess) {
    this.#python = python
    this.#url = url
    this.#folder = folder
    this.#server = server
  }

  /** Takes what a mail invites to into the calendar. */
  async receive(mail: Buffer): Promise<void> {
    const done = run(this.#python, ['-m', 'xandikos', 'import-imip', '--principal-url', `${this.#url}user/`])
    done.child.stdin?.end(mail)
    await done
  }

  /** Answers the newest invitation to an event. @returns when that starts, ISO 8601 with an offset. */
  async answer(uid: string, answer: 'accept' | 'decline' | 'tentatively_accept'): Promise<string> {
    const program = path.join(import.meta.dirname, 'answer.py')
    return (await run(this.#python, [program, this.#url, uid, answer])).stdout.trim()
  }

  async stop(): Promise<void> {
    const exit = once(this.#server, 'exit')
    this.#server.kill()
    await exit
    await rm(this.#folder, { recursive: true, force: true })
  }
}
