import { enhancedStatusIn } from './classify.ts'
import type { DeliveryReport } from './report.ts'

/** A mail that may say that another one failed, without a form of reports. */
export interface BounceText {
  readonly subject: string | undefined
  readonly text: string
}

/** Characters that are searched: servers say first what failed, and quote the mail afterwards. */
const SEARCHED = 20_000
const MAX_DIAGNOSTIC = 2_000

/** What mail servers write about a mail that they have not delivered, or not yet. */
const KNOWN = [
  /this is the (?:qmail-send program|mail (?:system|delivery) at)/i,
  /undeliver(?:ed|able)|unzustellbar|non remis|no entregado|não entregue|mancata consegna|niet bestelbaar/i,
  /(?:mail|message|messages?|delivery) .{0,40}(?:delivery failed|returned to sender|returning message)/i,
  /delivery (?:status notification|failure|has failed|to the following .{0,40}failed|incomplete|delayed|notification)/i,
  /(?:could not|couldn't|can ?not|can't|was not|wasn't|unable to|not) be(?:en)? (?:yet )?delivered|wasn't delivered|not yet been delivered/i,
  /(?:failure notice|returned mail|mail system error|nondeliverable mail|warning: could not send message)/i,
  /(?:konnte|wurde) nicht zugestellt|noch nicht zugestellt|n'a pas pu être (?:remis|livré)|no se (?:ha )?pud[oi].{0,20}entregar/i,
]

/** The server goes on trying. */
const DELAYED =
  /delayed|still (?:being tried|trying)|will (?:continue|keep) (?:trying|to try)|will be retried|not yet (?:been )?delivered|noch nicht zugestellt|warning: could not send|do not need to resend/i
const CODE = /(?:^|[^\d.])[45]\d\d(?:[ :-]|$)/

/**
 * The report in a mail that says in words that a delivery failed; undefined where it says nothing of the kind. Only for
 * mail that came from a mail server to the return path of a delivery, which it is therefore about.
 */
export function reportInText({ subject = '', text }: BounceText): DeliveryReport | undefined {
  const searched = `${subject}\n${text.slice(0, SEARCHED)}`
  if (!KNOWN.some((words) => words.test(searched))) return undefined
  const lines = searched.split(/\r?\n/)
  const diagnostic = (
    lines.find((line) => enhancedStatusIn(line) !== undefined) ?? lines.find((line) => CODE.test(line))
  )
    ?.trim()
    .slice(0, MAX_DIAGNOSTIC)
  const status = enhancedStatusIn(diagnostic ?? '')
  const isFinal = status?.startsWith('5') || /(?:^|[^\d.])5\d\d(?:[ :-]|$)/.test(diagnostic ?? '')
  const recipient = {
    action: !isFinal && DELAYED.test(searched) ? ('delayed' as const) : ('failed' as const),
    ...(status !== undefined && { status }),
    ...(diagnostic !== undefined && { diagnostic }),
  }
  return { kind: 'delivery', recipients: [recipient] }
}
