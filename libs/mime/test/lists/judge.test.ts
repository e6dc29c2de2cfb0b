import { judgeAddress, judgeMentioned, type ListEntry, listNames } from '../../src/index.ts'

/** `inbox allow ada@x.test` */
function entryOf(text: string): ListEntry {
  const [tier, type, entry = ''] = text.split(' ')
  if (tier !== 'inbox' && tier !== 'pod' && tier !== 'organization') throw new Error(`no tier: ${text}`)
  if (type !== 'allow' && type !== 'block') throw new Error(`no type: ${text}`)
  return { tier, type, entry }
}

function listsOf(texts: readonly string[]) {
  const entries = texts.map(entryOf)
  return { entries, hasAllowList: entries.some(({ type }) => type === 'allow') }
}

interface Case {
  readonly rule: string
  readonly lists: readonly string[]
  readonly address?: string
  readonly blocked: boolean
  /** The entry that decides. */
  readonly by?: string
}

const ADA = 'ada@x.test'

const CASES: readonly Case[] = [
  { rule: 'empty lists accept everybody', lists: [], blocked: false },
  ...['inbox', 'pod', 'organization'].flatMap((tier): Case[] => [
    ...['block', 'allow'].flatMap((type): Case[] =>
      [ADA, 'x.test'].map((entry) => ({
        rule: `an entry ${type} ${entry} of the ${tier} decides`,
        lists: [`${tier} ${type} ${entry}`],
        blocked: type === 'block',
        by: `${tier} ${type} ${entry}`,
      })),
    ),
    {
      rule: `an allow list of the ${tier} blocks everybody else`,
      lists: [`${tier} allow bo@x.test`],
      blocked: true,
    },
    { rule: `a block list of the ${tier} blocks nobody else`, lists: [`${tier} block bo@x.test`], blocked: false },
    {
      rule: `in the lists of the ${tier}, an address comes before its domain: blocked`,
      lists: [`${tier} allow x.test`, `${tier} block ${ADA}`],
      blocked: true,
      by: `${tier} block ${ADA}`,
    },
    {
      rule: `in the lists of the ${tier}, an address comes before its domain: allowed`,
      lists: [`${tier} block x.test`, `${tier} allow ${ADA}`],
      blocked: false,
      by: `${tier} allow ${ADA}`,
    },
    ...[ADA, 'x.test'].map((entry) => ({
      rule: `in the lists of the ${tier}, allow comes before block for ${entry}`,
      lists: [`${tier} block ${entry}`, `${tier} allow ${entry}`],
      blocked: false,
      by: `${tier} allow ${entry}`,
    })),
  ]),
  ...(
    [
      ['inbox', 'pod'],
      ['inbox', 'organization'],
      ['pod', 'organization'],
    ] as const
  ).flatMap(([narrow, wide]): Case[] =>
    ['block', 'allow'].map((type) => ({
      rule: `a domain on ${type} of the ${narrow} comes before the address in the lists of the ${wide}`,
      lists: [`${wide} ${type === 'block' ? 'allow' : 'block'} ${ADA}`, `${narrow} ${type} x.test`],
      blocked: type === 'block',
      by: `${narrow} ${type} x.test`,
    })),
  ),
  {
    rule: 'an allow list of the organization blocks where only a block list of the inbox has an entry, for another',
    lists: ['inbox block bo@x.test', 'organization allow cy@y.test'],
    blocked: true,
  },
  {
    rule: 'an allow list of the inbox blocks somebody whom nobody blocks',
    lists: ['inbox allow bo@x.test', 'organization block cy@y.test'],
    blocked: true,
  },
  {
    rule: 'a domain does not stand for its subdomains',
    lists: ['inbox block x.test'],
    address: 'ada@mail.x.test',
    blocked: false,
  },
  { rule: 'a subdomain does not stand for its domain', lists: ['inbox block mail.x.test'], blocked: false },
  {
    rule: 'a domain does not stand for one that ends with it',
    lists: ['inbox block x.test'],
    address: 'ada@ax.test',
    blocked: false,
  },
  { rule: 'tags are part of the address', lists: [`inbox block ${ADA}`], address: 'ada+news@x.test', blocked: false },
  {
    rule: 'letter case does not matter',
    lists: [`inbox block ${ADA}`],
    address: 'Ada@X.TEST',
    blocked: true,
    by: `inbox block ${ADA}`,
  },
  {
    rule: 'an internationalised domain is compared in ASCII',
    lists: ['inbox block xn--bcher-kva.test'],
    address: 'ada@BÜCHER.test',
    blocked: true,
    by: 'inbox block xn--bcher-kva.test',
  },
  {
    rule: 'the domain of an address is compared in ASCII',
    lists: ['inbox block jürgen@xn--bcher-kva.test'],
    address: 'JU\u0308RGEN@bücher.test',
    blocked: true,
    by: 'inbox block jürgen@xn--bcher-kva.test',
  },
  {
    rule: 'a dot at the end of a domain does not matter',
    lists: ['inbox block x.test'],
    address: 'ada@x.test.',
    blocked: true,
    by: 'inbox block x.test',
  },
]

describe('an address', () => {
  it.each(CASES)('$rule', ({ lists, address = ADA, blocked, by }) => {
    const expected = { blocked, ...(by !== undefined && { entry: entryOf(by) }) }
    expect(judgeAddress(address, listsOf(lists))).toEqual(expected)
    // Their order has no meaning.
    expect(judgeAddress(address, listsOf(lists.toReversed()))).toEqual(expected)
  })

  it('is blocked by an allow list whose entries are not at hand', () => {
    expect(judgeAddress(ADA, { entries: [], hasAllowList: true })).toEqual({ blocked: true })
  })
})

describe('the addresses in the text of a mail without exactly one author', () => {
  it.each<[string, string[], string[], boolean]>([
    ['pass empty lists', [], [ADA, 'bo@y.test'], false],
    ['are blocked when one of them is', ['organization block bo@y.test'], [ADA, 'bo@y.test'], true],
    ['are blocked when the domain of one is', ['pod block y.test'], [ADA, 'Bo@Y.test'], true],
    ['pass when others are blocked', ['inbox block cy@x.test'], [ADA, 'bo@y.test'], false],
    ['are not allowed by any entry', ['inbox allow ada@x.test', 'inbox allow y.test'], [ADA, 'bo@y.test'], true],
    ['are blocked though a narrower list allows the address', [`inbox allow ${ADA}`, `pod block ${ADA}`], [ADA], true],
    ['are blocked by an allow list even when there are none', ['pod allow x.test'], [], true],
    ['pass block lists when there are none', ['pod block x.test'], [], false],
  ])('%s', (_rule, lists, addresses, blocked) => {
    expect(judgeMentioned(addresses, listsOf(lists)).blocked).toBe(blocked)
  })
})

it('names an address by itself and by its domain', () => {
  expect(listNames('Ada@Bücher.Test.')).toEqual(['ada@xn--bcher-kva.test', 'xn--bcher-kva.test'])
})
