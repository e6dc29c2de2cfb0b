import { join } from 'node:path'

/**
 * The command of MailDev, where mail that leaves the stack ends and a person can read it.
 * @param places ports of loopback for SMTP and for its page, and the folder that keeps the mail.
 */
export function captureCommand(places: {
  readonly smtp: number
  readonly web: number
  readonly folder: string
}): [program: string, ...args: string[]] {
  const program = join(import.meta.dirname, 'node_modules/maildev/bin/maildev')
  const smtp = ['--ip', '127.0.0.1', '--smtp', String(places.smtp)]
  const page = ['--web-ip', '127.0.0.1', '--web', String(places.web)]
  return [process.execPath, program, ...smtp, ...page, '--mail-directory', places.folder]
}
