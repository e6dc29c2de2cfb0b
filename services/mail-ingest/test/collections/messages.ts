import { glob, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { RunMail } from '../hostile/support/mail-run.ts'
import { unpacked } from './clients.ts'
import type { Collection } from './packages.ts'

/** The distinct mails of a collection, as SMTP carries them. */
export async function mailsOf(collection: Collection): Promise<RunMail[]> {
  const folder = await unpacked(collection)
  const mails = new Map<string, RunMail>()
  for await (const name of glob('**', { cwd: folder })) {
    const file = path.join(folder, name)
    const isMailbox = collection.mailboxes?.test(`/${name}`) ?? false
    if (!(isMailbox || collection.mails.test(`/${name}`)) || !(await stat(file)).isFile()) continue
    const content = await readFile(file, 'latin1')
    for (const [at, text] of (isMailbox ? mailsIn(content) : [content]).entries()) {
      const raw = asSmtpCarries(text)
      mails.set(raw.toString('latin1'), { what: isMailbox ? `${name}, ${at}` : name, raw })
    }
  }
  return [...mails.values()]
}

/**
 * Each line ended by CR LF, as every client sends it (RFC 5321 2.3.8), also where the file has CR or LF alone. Everything
 * else is unchanged.
 */
export function asSmtpCarries(text: string): Buffer {
  const lines = text.replace(/\r\n?|\n/g, '\r\n')
  return Buffer.from(lines === '' || lines.endsWith('\r\n') ? lines : `${lines}\r\n`, 'latin1')
}

/** The mails of a file in the format mbox, without the line that begins each (RFC 4155). */
function mailsIn(mailbox: string): string[] {
  return mailbox.split(/(?:^|(?<=\r?\n\r?\n))From [^\r\n]*\r?\n/).filter((mail) => mail.trim() !== '')
}
