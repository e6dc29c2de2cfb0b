import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { USUAL_BYTES } from './mail.ts'

const run = promisify(execFile)

export interface SmtpSourceLoad {
  readonly host?: string
  readonly port: number
  readonly from: string
  /** Each recipient gets an equal share of the mails, from a process of its own. */
  readonly recipients: readonly string[]
  readonly mails: number
  /** Sessions at once, in total; at least one per recipient. */
  readonly sessions: number
  /** Puts the number of each mail before its recipient's address. */
  readonly numbered?: boolean
  /** True: a session sends many mails. False: each mail has a connection of its own. */
  readonly reuse: boolean
}

export interface SmtpSourceResult {
  /** Mails that were answered with 250. */
  readonly accepted: number
  readonly seconds: number
}

/** Sends with Postfix's load generator, which fails when one mail is refused. */
export async function smtpSource(load: SmtpSourceLoad): Promise<SmtpSourceResult> {
  const { host = '127.0.0.1', port, from, recipients, mails, sessions, reuse, numbered = false } = load
  const each = Math.ceil(mails / recipients.length)
  const began = performance.now()
  await Promise.all(
    recipients.map((to) =>
      run('smtp-source', [
        ...(reuse ? ['-d'] : []),
        ...(numbered ? ['-N'] : []),
        ...['-M', 'source.test', '-f', from, '-t', to],
        ...['-l', String(USUAL_BYTES), '-m', String(each), '-s', String(Math.ceil(sessions / recipients.length))],
        `inet:${host}:${port}`,
      ]),
    ),
  )
  return { accepted: each * recipients.length, seconds: (performance.now() - began) / 1000 }
}
