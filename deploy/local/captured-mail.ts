import { join } from 'node:path'
import { serviceCommand } from '@restante/service'

/**
 * The command of MailDev, where mail that leaves the stack ends and a person can read it.
 * @param places ports of loopback for SMTP and for its page, and the folder that keeps the mail.
 */
export function captureCommand(places: {
  readonly smtp: number
  readonly web: number
  readonly folder: string
}): [program: string, ...args: string[]] {
  const [program, ...args] = serviceCommand(join(import.meta.dirname, 'captured-mail/program.ts'))
  return [program, ...args, String(places.smtp), String(places.web), places.folder]
}
