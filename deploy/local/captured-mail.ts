import { join } from 'node:path'
import { serviceCommand } from '@restante/service/process'

/**
 * The command that runs MailDev, which receives the mail that leaves the stack and shows it on a page.
 * @param places ports on loopback for SMTP and for its page, and the folder that stores the mail.
 */
export function captureCommand(places: {
  readonly smtp: number
  readonly web: number
  readonly folder: string
}): [program: string, ...args: string[]] {
  const [program, ...args] = serviceCommand(join(import.meta.dirname, 'captured-mail/program.ts'))
  return [program, ...args, String(places.smtp), String(places.web), places.folder]
}
