/** A mail of the corpus that a mailbox is filled with. */
export interface CorpusMail {
  readonly subject: string
  readonly text: string
}

/** Words of known frequency: a search for them has a known number of matches. */
export const SEARCHED = {
  common: { word: 'ledger', every: 2 },
  medium: { word: 'voucher', every: 50 },
  rare: { word: 'zeppelin', every: 1_000 },
  Chinese: { word: '发票', every: 20 },
  Japanese: { word: '見積書', every: 20 },
  Thai: { word: 'ใบแจ้งหนี้', every: 20 },
} as const

const SENTENCES: Readonly<Record<string, string>> = {
  Chinese: '请把上个月的发票寄给我们，谢谢。',
  Japanese: '先日お願いした見積書をお送りください。',
  Thai: 'กรุณาส่งใบแจ้งหนี้ของเดือนที่แล้วให้เราด้วย',
}
const CONSONANTS = 'bcdfghklmnprstvw'
const VOWELS = 'aeiou'
const WORDS = 20_000

/** Mails with words in the frequencies of a language (Zipf), the same in every run. */
export function* corpus(count: number): Generator<CorpusMail> {
  const random = randomOf(1)
  const words = Array.from({ length: WORDS }, (_, index) => wordOf(index))
  // The inverse of the cumulative frequency 1/rank.
  const word = () => words[Math.floor((WORDS + 1) ** random()) - 1] ?? ''
  const text = (length: number) => Array.from({ length }, word).join(' ')
  for (let index = 0; index < count; index++) {
    const searched = Object.entries(SEARCHED).flatMap(([name, { word: marked, every }], at) =>
      (index + at) % every === 0 ? [SENTENCES[name] ?? marked] : [],
    )
    const body = `This is the text of a mail, and it is about ${text(60 + Math.floor(random() * 160))}.`
    yield { subject: text(5), text: [body, ...searched].join('\r\n') }
  }
}

/** A word that can be pronounced, different for each index. */
function wordOf(index: number): string {
  let [word, rest] = ['', index + 17]
  while (rest > 0) {
    word += `${CONSONANTS[rest % CONSONANTS.length]}${VOWELS[Math.floor(rest / CONSONANTS.length) % VOWELS.length]}`
    rest = Math.floor(rest / (CONSONANTS.length * VOWELS.length))
  }
  return word
}

/** Numbers from 0 to 1 (mulberry32), the same for a seed in every run. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
