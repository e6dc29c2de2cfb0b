import { randomUUID } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import type { VerificationCode } from '../generated/prisma/client.ts'
import { baseAddress } from '../inboxes/recipients.ts'
import type { Tx } from '../storage/database.ts'
import type { GatewaySchedule } from '../storage/timers.ts'

/**
 * The mailbox that a human's address reaches: plus tags and letter case do not make a different one. Throttles count by
 * it, because `you+1@` and `you+2@` fill the same mailbox (identity 5.1).
 */
export function mailboxOf(humanEmail: string): string {
  return baseAddress(humanEmail)
}

const HOLD_HUMAN = sql<never, [mailbox: string]>("select pg_advisory_xact_lock(hashtextextended('human ' || $1, 0))")

/** Serializes everything about one human mailbox, across all processes, until the end of the transaction. */
export async function holdHuman(tx: Tx, humanEmail: string): Promise<void> {
  await tx.query(HOLD_HUMAN, mailboxOf(humanEmail))
}

const HOLD_OWN_CODE = sql<{ id: string }, [organizationId: string]>(
  'select id from verification_codes where organization_id = $1 and credential_id is null for update',
)
const HOLD_CODE_OF_KEY = sql<{ id: string }, [credentialId: string]>(
  'select id from verification_codes where credential_id = $1 for update',
)

/**
 * The organization's own code, valid or not, locked until the end of the transaction so that attempts are counted
 * exactly. Codes of provisional keys are separate: no sign-up of a third party affects this one.
 */
export async function lockOwnCode(tx: Tx, organizationId: string): Promise<VerificationCode | undefined> {
  const [held] = await tx.query(HOLD_OWN_CODE, organizationId)
  return held && readCode(tx, held.id)
}

/** The code of a provisional key, valid or not, locked in the same way. Absent when none was mailed. */
export async function lockCodeOfKey(tx: Tx, credentialId: string): Promise<VerificationCode | undefined> {
  const [held] = await tx.query(HOLD_CODE_OF_KEY, credentialId)
  return held && readCode(tx, held.id)
}

async function readCode(tx: Tx, id: string): Promise<VerificationCode> {
  const orm = await tx.orm()
  return orm.verificationCode.findUniqueOrThrow({ where: { id } })
}

export function isLive(code: Pick<VerificationCode, 'expiresAt'>, now: Date): boolean {
  return code.expiresAt > now
}

export interface CodeRequest {
  readonly organizationId: string
  readonly humanEmail: string
  /** Whether a valid code that was mailed already is mailed again. */
  readonly mailAgain: boolean
}

/**
 * Gives the organization a code of its own, if one can be mailed now: a code exists only together with a mail that
 * carries it. Attempts are thereby bounded by the mails to the human's mailbox, ten for each of five a day: replacing
 * the human, signing up again and plus tags give no further ones. A valid code is kept with its attempts for the same
 * reason. The caller holds the human (`holdHuman`).
 */
export async function ensureCode(tx: Tx, timers: GatewaySchedule, request: CodeRequest, now: Date): Promise<void> {
  const { organizationId, humanEmail } = request
  const known = await lockOwnCode(tx, organizationId)
  const kept = known !== undefined && known.humanEmail === humanEmail && isLive(known, now) ? known : undefined
  if (kept !== undefined && kept.mailedAt !== null && !request.mailAgain) return
  if (known !== undefined && kept === undefined) await forgetCode(tx, timers, known)
  const owner = { organizationId, humanEmail, credentialId: null }
  if (await mayMail(tx, owner, now)) await mail(tx, timers, kept ?? (await createCode(tx, owner, now)), now)
}

/** A provisional key and the human who is to confirm it. */
export interface ProvisionalKey {
  readonly organizationId: string
  readonly humanEmail: string
  readonly credentialId: string
}

/**
 * Gives a provisional key a code of its own, if one can be mailed now. For a key without a mailed code there is nothing
 * to guess, so a third party gets at most three attempts for each of the three mails a day (identity 5.2). The caller
 * holds the human.
 */
export async function mailCodeOfKey(tx: Tx, timers: GatewaySchedule, key: ProvisionalKey, now: Date): Promise<void> {
  if (await mayMail(tx, key, now)) await mail(tx, timers, await createCode(tx, key, now), now)
}

type NewCode = Pick<VerificationCode, 'organizationId' | 'humanEmail' | 'credentialId'>

async function createCode(tx: Tx, given: NewCode, now: Date): Promise<VerificationCode> {
  const { organizationId, humanEmail, credentialId } = given
  const orm = await tx.orm()
  const expiresAt = new Date(now.getTime() + LIMITS.signUp.codeLifetime)
  return orm.verificationCode.create({
    data: { id: randomUUID(), organizationId, humanEmail, credentialId, createdAt: now, expiresAt },
  })
}

/** Ends a code: it is neither accepted nor mailed any more. */
export async function forgetCode(tx: Tx, timers: GatewaySchedule, code: VerificationCode): Promise<void> {
  const orm = await tx.orm()
  await orm.verificationCode.delete({ where: { id: code.id } })
  await timers.cancel(tx, 'code-mail', code.id)
}

/**
 * At most one code mail a minute and five a day to one mailbox, over all operations: no mail bombing (identity 5.1). At
 * most three of the five are codes of provisional keys: sign-ups of third parties leave the others to the
 * organization's own code.
 */
async function mayMail(
  tx: Tx,
  { humanEmail, credentialId }: Pick<VerificationCode, 'humanEmail' | 'credentialId'>,
  now: Date,
): Promise<boolean> {
  const orm = await tx.orm()
  const mails = await orm.codeMail.findMany({
    where: { humanEmail: mailboxOf(humanEmail), createdAt: { gt: new Date(now.getTime() - DAY_MS) } },
    select: { createdAt: true, provisional: true },
  })
  const { codeMailSpacing, codeMailsPerDay, provisionalMailsPerDay } = LIMITS.signUp
  const spaced = mails.every((mail) => now.getTime() - mail.createdAt.getTime() >= codeMailSpacing)
  if (!spaced || mails.length >= codeMailsPerDay) return false
  return credentialId === null || mails.filter((mail) => mail.provisional).length < provisionalMailsPerDay
}

const DAY_MS = 86_400_000

async function mail(tx: Tx, timers: GatewaySchedule, code: VerificationCode, now: Date): Promise<void> {
  const orm = await tx.orm()
  const id = randomUUID()
  const provisional = code.credentialId !== null
  await orm.codeMail.create({
    data: { id, humanEmail: mailboxOf(code.humanEmail), codeId: code.id, provisional, createdAt: now },
  })
  await timers.schedule(tx, { kind: 'code-mail', key: code.id, payload: { code_id: code.id, mail_id: id } })
}
