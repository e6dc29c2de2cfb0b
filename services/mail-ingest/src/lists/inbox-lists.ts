import type { InternalResponseOf } from '@restante/contracts/internal'
import type { Tier } from '@restante/contracts/vocabulary'
import { judgeAddress, judgeMentioned, type ListEntry, type Lists, listNames } from '@restante/mime'
import type { Queryable } from '@restante/service/database'
import type { InboxScope } from '../inbound/store.ts'
import { type FoundEntry, type InboundDirection, listEntries } from './store.ts'

/** Whom `From` names: the one author of the mail, or the addresses that its text mentions (mail 13 step 4). */
export type NamedSenders = { readonly author: string } | { readonly mentioned: readonly string[] }

/** A mail that is judged by the lists that apply to its inbox. */
export interface JudgedMail {
  readonly inbox: InboxScope
  readonly senders: NamedSenders
}

type OwnerEntry = InternalResponseOf<'mail-send.findListEntries'>['mails'][number][number]

const DIRECTIONS: readonly InboundDirection[] = ['receive', 'reply']

/** The receive and reply lists that apply to received mails, read for all of them at once (mail 12.4). */
export class InboxLists {
  readonly #found: readonly FoundEntry[]

  private constructor(found: readonly FoundEntry[]) {
    this.#found = found
  }

  static async of(db: Queryable, mails: readonly JudgedMail[]): Promise<InboxLists> {
    const wanted = mails.flatMap(({ inbox: { organization_id, pod_id, inbox_uid }, senders }) =>
      namesOf(senders).map((name) => ({ organization_id, pod_id, inbox_uid, name })),
    )
    return new InboxLists(await listEntries.find(db, wanted))
  }

  /** What the owner has answered about one mail. */
  static ofOwner({ inbox }: Pick<JudgedMail, 'inbox'>, entries: readonly OwnerEntry[]): InboxLists {
    const scopes = scopesOf(inbox)
    return new InboxLists(entries.map((one) => ({ ...one, scope_id: scopes[one.tier], entry: one.entry ?? null })))
  }

  /** Whether the lists of some direction block the mail. */
  mayBlock(mail: JudgedMail): boolean {
    return DIRECTIONS.some((direction) => this.isBlocked(mail, direction))
  }

  /** Whether the verdict depends on the direction: if not, it need not be determined. */
  dependsOnDirection(mail: JudgedMail): boolean {
    const [receive, reply] = DIRECTIONS.map((direction) => this.isBlocked(mail, direction))
    return receive !== reply
  }

  /** Whether the lists of a direction block the mail: it is then stored with the label `blocked`. */
  isBlocked({ inbox, senders }: JudgedMail, direction: InboundDirection): boolean {
    const lists = this.#listsOf(inbox, direction)
    const verdict = 'author' in senders ? judgeAddress(senders.author, lists) : judgeMentioned(senders.mentioned, lists)
    return verdict.blocked
  }

  #listsOf(inbox: InboxScope, direction: InboundDirection): Lists<ListEntry> {
    const scopes = scopesOf(inbox)
    const found = this.#found.filter((one) => one.direction === direction && scopes[one.tier] === one.scope_id)
    return {
      entries: found.flatMap(({ tier, type, entry }) => (entry === null ? [] : [{ tier, type, entry }])),
      hasAllowList: found.some(({ type }) => type === 'allow'),
    }
  }
}

function scopesOf({ organization_id, pod_id, inbox_uid }: InboxScope): Readonly<Record<Tier, string>> {
  return { organization: organization_id, pod: pod_id, inbox: inbox_uid }
}

/** The names to look up: at least one for each mail, because an allow list blocks a mail that names nobody, too. */
export function namesOf(senders: NamedSenders): readonly string[] {
  const addresses = 'author' in senders ? [senders.author] : senders.mentioned
  return addresses.length === 0 ? [''] : [...new Set(addresses.flatMap(listNames))]
}
