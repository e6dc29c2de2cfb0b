import { randomUUID } from 'node:crypto'
import { LIMITS } from '@restante/contracts'
import { sql } from '@restante/service'
import type { Tx } from '../database.ts'
import type { VerificationCode } from '../generated/prisma/client.ts'
import type { GatewaySchedule } from '../timers.ts'

const HOLD_HUMAN = sql<never, [address: string]>("select pg_advisory_xact_lock(hashtextextended('human ' || $1, 0))")

/** Serializes whatever concerns one human address, across all processes, until the end of the transaction. */
export async function holdHuman(tx: Tx, address: string): Promise<void> {
  await tx.query(HOLD_HUMAN, address)
}

const HOLD_CODE = sql<{ id: string }, [organizationId: string]>(
  'select id from verification_codes where organization_id = $1 for update',
)

/** The code of an organization, live or not, held until the end of the transaction so that attempts count exactly. */
export async function lockCode(tx: Tx, organizationId: string): Promise<VerificationCode | undefined> {
  const [held] = await tx.query(HOLD_CODE, organizationId)
  if (held === undefined) return undefined
  const orm = await tx.orm()
  return orm.verificationCode.findUniqueOrThrow({ where: { id: held.id } })
}

export function isLive(code: VerificationCode, now: Date): boolean {
  return code.expiresAt > now
}

export interface CodeRequest {
  readonly organizationId: string
  readonly humanEmail: string
  /** Mail a code that is live and was mailed already once more. */
  readonly mailAgain: boolean
}

/**
 * Sees to it that the human has a code. A live one is kept with its attempts, whoever asks: a fresh code for each request
 * would be a fresh set of attempts for whoever guesses. The caller holds the human (`holdHuman`).
 */
export async function ensureCode(tx: Tx, timers: GatewaySchedule, request: CodeRequest, now: Date): Promise<void> {
  const orm = await tx.orm()
  const { organizationId, humanEmail } = request
  const known = await lockCode(tx, organizationId)
  const kept = known !== undefined && known.humanEmail === humanEmail && isLive(known, now) ? known : undefined
  if (kept !== undefined && kept.mailedAt !== null && !request.mailAgain) return
  if (known !== undefined && kept === undefined) await forgetCode(tx, timers, known)
  const code =
    kept ??
    (await orm.verificationCode.create({
      data: {
        id: randomUUID(),
        organizationId,
        humanEmail,
        createdAt: now,
        expiresAt: new Date(now.getTime() + LIMITS.signUp.codeLifetime),
      },
    }))
  if (await mayMail(tx, humanEmail, now)) await mail(tx, timers, code, now)
}

/** Ends a code: it verifies nothing any more and is not mailed any more. */
export async function forgetCode(tx: Tx, timers: GatewaySchedule, code: VerificationCode): Promise<void> {
  const orm = await tx.orm()
  await orm.verificationCode.delete({ where: { id: code.id } })
  await timers.cancel(tx, 'code-mail', code.id)
}

/** At most one code mail a minute and five a day to one address, over all operations: no mail bomb (identity 5.1). */
async function mayMail(tx: Tx, humanEmail: string, now: Date): Promise<boolean> {
  const orm = await tx.orm()
  const mails = await orm.codeMail.findMany({
    where: { humanEmail, createdAt: { gt: new Date(now.getTime() - DAY_MS) } },
    select: { createdAt: true },
  })
  const spaced = mails.every((mail) => now.getTime() - mail.createdAt.getTime() >= LIMITS.signUp.codeMailSpacing)
  return spaced && mails.length < LIMITS.signUp.codeMailsPerDay
}

const DAY_MS = 86_400_000

async function mail(tx: Tx, timers: GatewaySchedule, code: VerificationCode, now: Date): Promise<void> {
  const orm = await tx.orm()
  const id = randomUUID()
  await orm.codeMail.create({ data: { id, humanEmail: code.humanEmail, createdAt: now } })
  await timers.schedule(tx, { kind: 'code-mail', key: code.id, payload: { code_id: code.id, mail_id: id } })
}
