import { bareAddress, htmlToText } from '@restante/mime'
import type { MailContent } from '../../content/mail-content.ts'

/** One sign of spam, and its weight. */
interface SpamRule {
  readonly name: string
  readonly score: number
  readonly matches: (mail: MailContent, authenticated: boolean) => boolean
}

/** The score at which a mail counts as spam. */
export const SPAM_THRESHOLD = 5

/** The test string that every spam filter recognises. */
const GTUBE = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'
const PHRASES =
  /\b(?:viagra|cialis|you(?:'ve| have) won|lottery winner|claim your (?:prize|reward)|unclaimed (?:funds|inheritance)|next of kin|wire transfer of|million (?:usd|dollars)|hot singles|work from home and earn|double your bitcoin|miracle cure)\b/gi
const PROGRAMS = /\.(?:exe|scr|pif|com|bat|cmd|vbs|vbe|js|jse|wsf|hta|jar|lnk|iso|img)$/i
const SHOUTING_LENGTH = 12

/** What is read of a mail: its text, or its html where the text is absent or blank. */
const bodyOf = ({ text, html }: MailContent): string => (text?.trim() ? text : (html ?? ''))

const phrasesIn = (mail: MailContent): number =>
  new Set(
    (`${mail.subject ?? ''}\n${bodyOf(mail).slice(0, 100_000)}`.match(PHRASES) ?? []).map((phrase) =>
      phrase.toLowerCase(),
    ),
  ).size

/** Signs that few honest mails have. One alone, except the test string, never makes a mail spam. */
const RULES: readonly SpamRule[] = [
  { name: 'gtube', score: 1_000, matches: (mail) => bodyOf(mail).includes(GTUBE) },
  { name: 'phrase', score: 2.5, matches: (mail) => phrasesIn(mail) > 0 },
  { name: 'phrases', score: 2.5, matches: (mail) => phrasesIn(mail) > 2 },
  {
    name: 'program_attached',
    score: 3,
    matches: (mail) => mail.attachments.some(({ filename }) => PROGRAMS.test(filename ?? '')),
  },
  { name: 'unauthenticated', score: 1, matches: (_mail, authenticated) => !authenticated },
  { name: 'no_date', score: 1, matches: (mail) => mail.date === undefined },
  { name: 'shouting', score: 1, matches: (mail) => isShouting(mail.subject ?? '') },
  { name: 'address_in_name', score: 2, matches: (mail) => namesOtherAddress(mail.from) },
  { name: 'image_only', score: 1.5, matches: (mail) => mail.text === null && isImageOnly(mail.html ?? '') },
]

/** The sum of the rules that match, and their names for the log. */
export function spamScore(mail: MailContent, authenticated: boolean): { score: number; rules: string[] } {
  const matching = RULES.filter((rule) => rule.matches(mail, authenticated))
  return { score: matching.reduce((sum, rule) => sum + rule.score, 0), rules: matching.map((rule) => rule.name) }
}

function isShouting(subject: string): boolean {
  const letters = subject.replace(/\P{L}/gu, '')
  return letters.length >= SHOUTING_LENGTH && letters === letters.toUpperCase() && letters !== letters.toLowerCase()
}

/** `"service@bank.example" <x@elsewhere.example>`: a name that imitates another address. */
function namesOtherAddress(from: string): boolean {
  const address = bareAddress(from).toLowerCase()
  const shown = /[\w.+-]+@[\w.-]+\.[a-z]{2,}/i.exec(from.slice(0, from.lastIndexOf('<') + 1))?.[0]?.toLowerCase()
  return shown !== undefined && shown !== address
}

function isImageOnly(html: string): boolean {
  if (html.length > 50_000 || !/<img\b/i.test(html)) return false
  return htmlToText(html).replace(/\s/g, '').length < 20
}
