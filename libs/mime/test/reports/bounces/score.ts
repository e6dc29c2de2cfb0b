import type { BounceCase, ExpectedRecipient } from './cases.ts'

/** What a recogniser reads in a mail, per failed or complaining address; empty when it is no failure and no complaint. */
export type Recognise = (raw: Buffer, mailFrom: string) => readonly Recognised[] | Promise<readonly Recognised[]>

/** What it does not know is undefined. */
export interface Recognised {
  readonly address: string | undefined
  readonly type: string | undefined
  readonly subType: string | undefined
  readonly entry: ExpectedRecipient['entry'] | undefined
}

/** What a recogniser made of one case. */
export interface Outcome {
  readonly name: string
  /** A failure or complaint was taken for one, and anything else was not. */
  readonly recognised: boolean
  /** Also exactly the addresses that failed. */
  readonly addressed: boolean
  /** Also each with its class. */
  readonly classified: boolean
  /** Something was taken for a failure or complaint that is none. */
  readonly mistaken: boolean
  /** An address would be blocked, or sooner, that is not at fault. */
  readonly blocking: boolean
  readonly read: readonly Recognised[]
}

const STRENGTH = { no: 0, second: 1, yes: 2 }

export async function outcomeOf(
  { name, raw, mailFrom, recipients }: BounceCase,
  recognise: Recognise,
): Promise<Outcome> {
  const read = await recognise(raw, mailFrom)
  const recognised = recipients.length > 0 === read.length > 0
  const pairs = recipients.map((expected) => ({
    expected,
    found: read.find(({ address }) => address?.toLowerCase() === expected.address),
  }))
  const addressed = recognised && read.length === recipients.length && pairs.every(({ found }) => found !== undefined)
  const isRight = ({ expected, found }: (typeof pairs)[number]): boolean =>
    found?.type === expected.type && found.subType === expected.subType
  return {
    name,
    recognised,
    addressed,
    classified: addressed && pairs.every(isRight),
    mistaken: recipients.length === 0 && read.length > 0,
    blocking: blocks(read, recipients),
    read,
  }
}

/** Whether one of the addresses read is blocked sooner than any of those expected may be. */
function blocks(read: readonly Recognised[], expected: readonly ExpectedRecipient[]): boolean {
  return read.some(({ address, entry = 'no' }) => {
    const same = expected.filter((each) => each.address === address?.toLowerCase())
    const allowed = (same.length > 0 ? same : expected).map((each) => STRENGTH[each.entry])
    return STRENGTH[entry] > Math.max(0, ...allowed)
  })
}

export interface Score {
  readonly cases: number
  readonly recognised: number
  readonly addressed: number
  readonly classified: number
  readonly mistaken: number
  readonly blocking: number
}

export function scoreOf(outcomes: readonly Outcome[]): Score {
  const count = (key: Exclude<keyof Score, 'cases'>) => outcomes.filter((outcome) => outcome[key]).length
  return {
    cases: outcomes.length,
    recognised: count('recognised'),
    addressed: count('addressed'),
    classified: count('classified'),
    mistaken: count('mistaken'),
    blocking: count('blocking'),
  }
}
