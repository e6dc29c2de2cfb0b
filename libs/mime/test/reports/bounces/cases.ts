import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import iconv from 'iconv-lite'

/** What a mail to a return path is. Only `failure` and `complaint` say anything about an address. */
export const KINDS = [
  'failure',
  'complaint',
  'no-complaint',
  'delay',
  'success',
  'read',
  'automatic',
  'person',
  'list',
] as const
export type Kind = (typeof KINDS)[number]

/** What a report says of one address, in the words of events 1.3; `entry` is whether it makes a suppression entry. */
export interface ExpectedRecipient {
  readonly address: string
  readonly type: string
  readonly subType: string
  readonly entry: 'yes' | 'second' | 'no'
}

/** A mail as a mail system writes it, and what must be read in it. */
export interface BounceCase {
  readonly name: string
  readonly half: Half
  readonly system: string
  readonly lang: string
  readonly kind: Kind
  /** The envelope sender, empty for the null sender. */
  readonly mailFrom: string
  readonly recipients: readonly ExpectedRecipient[]
  readonly raw: Buffer
}

export const HALVES = ['own', 'blind'] as const
export type Half = (typeof HALVES)[number]

const CASE = /^=== mail (\S+)\nsystem: (.+)\nlang: (\S+)\nkind: (\S+)\nsender: <(.*)>\n([\s\S]*?)--- raw\n([\s\S]*)$/
const RECIPIENT = /^recipient: (\S+) (\S+) (\S+) (yes|second|no)$/

/** The labelled set, from `<half>/*.mails` beside this file. */
export function readCases(): BounceCase[] {
  return HALVES.flatMap((half) => {
    const folder = join(import.meta.dirname, half)
    const names = readdirSync(folder).filter((name) => name.endsWith('.mails'))
    return names.sort().flatMap((name) => parseCases(readFileSync(join(folder, name), 'utf8'), half))
  })
}

/** The cases of one file; a case that lacks a part is an error, so that none is passed over. */
export function parseCases(file: string, half: Half): BounceCase[] {
  const blocks = file.split(/^(?==== mail )/m).filter((block) => block.trim() !== '')
  return blocks.map((block) => parseCase(block, half))
}

function parseCase(block: string, half: Half): BounceCase {
  const fault = new Error(`This is not a case, see README.md: ${block.slice(0, 200)}`)
  const match = CASE.exec(block)
  if (match === null) throw fault
  const [, name = '', system = '', lang = '', word = '', mailFrom = '', labels = '', mail = ''] = match
  const kind = KINDS.find((each) => each === word)
  if (kind === undefined) throw fault
  const lines = labels.split('\n').filter((line) => line !== '')
  const charset = lines.find((line) => line.startsWith('bytes: '))?.slice('bytes: '.length) ?? 'utf-8'
  const recipients = lines
    .filter((line) => !line.startsWith('bytes: '))
    .map((line) => {
      const [, address = '', type = '', subType = '', entry] = RECIPIENT.exec(line) ?? []
      if (entry !== 'yes' && entry !== 'second' && entry !== 'no') throw fault
      return { address, type, subType, entry } as const
    })
  const raw = iconv.encode(mail.replaceAll('\n', '\r\n'), charset)
  return { name, half, system, lang, kind, mailFrom, recipients, raw }
}
