import { LIMITS } from '@restante/contracts/vocabulary'
import { backoff } from '@restante/service/concurrency'
import { type ServiceClient, UpstreamRejectedError } from '@restante/service/http'
import type { Secrets } from '../credentials/secrets.ts'
import type { Db } from '../storage/database.ts'
import type { GatewayTimers } from '../storage/timers.ts'

export interface CodeMailOptions {
  readonly db: Db
  readonly secrets: Secrets
  readonly mailSend: ServiceClient<'gateway'>
}

const ATTEMPT_MS = 60_000
const RETRY = { firstMs: 2_000, longestMs: 10_000 }

/**
 * Mails verification codes: a timer of the transaction that created the code. The digits are derived again for each
 * attempt and the mail has an id of its own, so that a crash at any point neither loses nor duplicates the mail.
 * Failures are retried for as long as the code is valid, but a refused mail is given up. The hand-over of the mail is
 * recorded before the timer ends; after a crash in between the same mail is handed over again, which has no second
 * effect.
 */
export function mailCodes(timers: GatewayTimers, { db, secrets, mailSend }: CodeMailOptions): void {
  const retry = (attempt: number, error: unknown): Date | null =>
    isFinal(error) ? null : new Date(Date.now() + backoff(attempt, RETRY))
  timers.work('code-mail', { concurrency: 4, attemptMs: ATTEMPT_MS, retry }, async ({ timer }) => {
    const { code_id: id, mail_id: mailId } = timer.payload
    const code = await db.orm.verificationCode.findUnique({ where: { id } })
    if (code === null || code.expiresAt <= new Date()) return
    await mailSend.call('mail-send.sendSystemMail', {
      id: mailId,
      to: code.humanEmail,
      subject: 'Your verification code',
      text: code.credentialId === null ? firstText(secrets.code(id)) : textForKey(secrets.code(id)),
    })
    // Committed separately, and not with the timer locked: transactions that end a code or mail it again lock the code,
    // then its timer.
    await db.orm.verificationCode.updateMany({ where: { id }, data: { mailedAt: new Date() } })
  })
}

/** The address cannot be mailed. Other rejections have internal causes, such as a key that is being changed. */
function isFinal(error: unknown): boolean {
  return error instanceof UpstreamRejectedError && error.status === 400
}

const hours = LIMITS.signUp.codeLifetime / 3_600_000

/** For a human in whose name an agent has signed up. */
function firstText(code: string): string {
  return [
    `Your verification code is ${code}`,
    '',
    'An AI agent signed up for an e-mail inbox and named you as its human. If you know this agent, give it the code.',
    `It is valid for ${hours} hours. If you do not know what this is about, do nothing: without the code the agent`,
    'can write only to you.',
    '',
  ].join('\n')
}

/** For the human of an existing organization, for which another key was requested. */
function textForKey(code: string): string {
  return [
    `Your verification code is ${code}`,
    '',
    'An AI agent signed up in your name, and you have an e-mail inbox here already. With this code the agent gets that',
    'inbox with all its mail, and the keys of the agent that has it now end. Give the code only to an agent that you',
    `yourself have just asked to sign up. It is valid for ${hours} hours. If you do not know what this is about, do nothing:`,
    'without the code nothing changes.',
    '',
  ].join('\n')
}
