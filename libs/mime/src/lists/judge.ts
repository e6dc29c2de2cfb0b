import type { ListType, Tier } from '@restante/contracts/vocabulary'
import { normalizeAddress } from '../addresses/address.ts'

/** An entry of an allow or block list. */
export interface ListEntry {
  /** Whose list it is on. */
  readonly tier: Tier
  readonly type: ListType
  /** An address, or a domain, which stands for every address of exactly that domain; in the form of `listNames`. */
  readonly entry: string
}

/** The lists of one direction that apply to an inbox: its own, those of its pod, and those of its organization. */
export interface Lists<Entry extends ListEntry> {
  /** At least those that name the judged addresses or their domains. */
  readonly entries: readonly Entry[]
  /** Whether any of the allow lists has an entry, whomever it names. */
  readonly hasAllowList: boolean
}

/** `entry` decided; without one, no entry named the address, and it is blocked because there is an allow list. */
export interface ListVerdict<Entry extends ListEntry> {
  readonly blocked: boolean
  readonly entry?: Entry
}

/** The narrowest decides. */
const TIERS_IN_ORDER: readonly Tier[] = ['inbox', 'pod', 'organization']
const TYPES_IN_ORDER: readonly ListType[] = ['allow', 'block']

/**
 * The names by which an address can be on a list: itself, and its domain. Both in lower case, the domain in ASCII and
 * without a dot at its end (mail 12.2).
 */
export function listNames(address: string): readonly [address: string, domain: string] {
  const normal = normalizeAddress(address).replace(/\.$/, '')
  return [normal, normal.slice(normal.lastIndexOf('@') + 1)]
}

/**
 * Judges an address by the lists of one direction (mail 12.4, steps 2 and 3): the first of inbox, pod and organization
 * decides that has an entry for it, there an address before a domain, and allow before block. An address that no entry
 * names is blocked as soon as any allow list has an entry.
 *
 * Step 1, which applies to sending only, comes before this and is not part of it.
 */
export function judgeAddress<Entry extends ListEntry>(address: string, lists: Lists<Entry>): ListVerdict<Entry> {
  for (const tier of TIERS_IN_ORDER) {
    for (const name of listNames(address)) {
      for (const type of TYPES_IN_ORDER) {
        const entry = lists.entries.find((one) => one.tier === tier && one.type === type && one.entry === name)
        if (entry !== undefined) return { blocked: type === 'block', entry }
      }
    }
  }
  return { blocked: lists.hasAllowList }
}

/**
 * Judges a mail whose `From` does not name exactly one mailbox, by the addresses in its text: it is blocked when a block
 * list names any of them, and no allow list lets it pass (mail 13 step 4). Anybody can write an allowed address there.
 */
export function judgeMentioned<Entry extends ListEntry>(
  addresses: readonly string[],
  lists: Lists<Entry>,
): ListVerdict<Entry> {
  const names = new Set(addresses.flatMap(listNames))
  const entry = lists.entries.find((one) => one.type === 'block' && names.has(one.entry))
  return entry === undefined ? { blocked: lists.hasAllowList } : { blocked: true, entry }
}
