import { LRUCache } from 'lru-cache'
import { folded, type Token } from './words.ts'

type Stemmer = (word: string) => string

interface Language {
  readonly stem: Stemmer
  readonly frequent: ReadonlySet<string>
}

/** Tokens of a text that are looked at to recognise its language. */
const SAMPLE = 400
/** Fewer frequent words than this show no language: a single one may be a name. */
const FEWEST = 2
const CACHED_STEMS = 20_000

/**
 * Stems of words in the languages that have a stemmer. A language is recognised by its frequent words; text in no known
 * language is searched by its words as they are.
 */
export class Stems {
  readonly #stemmers = new Map<string, Stemmer>()
  /** The languages in which a word is frequent. */
  readonly #frequentIn = new Map<string, string[]>()
  readonly #cache = new LRUCache<string, string>({ max: CACHED_STEMS })

  private constructor(languages: ReadonlyMap<string, Language>) {
    for (const [name, { stem, frequent }] of languages) {
      this.#stemmers.set(name, stem)
      for (const word of frequent) {
        const known = this.#frequentIn.get(word)
        if (known) known.push(name)
        else this.#frequentIn.set(word, [name])
      }
    }
  }

  static #loaded: Promise<Stems> | undefined

  /** Loaded with the first call: a process that neither indexes nor searches holds no word lists. */
  static load(): Promise<Stems> {
    Stems.#loaded ??= loadLanguages().then((languages) => new Stems(languages))
    return Stems.#loaded
  }

  /** The languages of a text by how many of its words are frequent in them: the most, and whichever has as many. */
  recognise(tokens: Iterable<Token>): string[] {
    const counts = new Map<string, number>()
    let seen = 0
    for (const { text } of tokens) {
      if (++seen > SAMPLE) break
      for (const name of this.#frequentIn.get(text) ?? []) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    const most = Math.max(...counts.values())
    return most < FEWEST ? [] : [...counts].flatMap(([name, count]) => (count === most ? [name] : []))
  }

  /** The stem of a word in a language, which is the word itself where nothing is cut. */
  stem(language: string, word: string): string {
    const key = `${language} ${word}`
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const stem = this.#stemmers.get(language)?.(word) || word
    this.#cache.set(key, stem)
    return stem
  }

  /** Whether a stem may begin with another letter than its word in one of these languages. In others only ends change. */
  changesBeginnings(languages: readonly string[]): boolean {
    return languages.some((language) => language === 'ar' || language === 'ga')
  }

  /** The stem of a word by language: that of a query is not known. */
  everyStem(word: string): Map<string, string> {
    return new Map([...this.#stemmers.keys()].map((language) => [language, this.stem(language, word)]))
  }
}

async function loadLanguages(): Promise<Map<string, Language>> {
  const frequent = await import('stopword')
  const loaded = await Promise.all([
    language('ar', import('@orama/stemmers/arabic'), frequent.ara),
    language('bg', import('@orama/stemmers/bulgarian'), frequent.bul),
    language('da', import('@orama/stemmers/danish'), frequent.dan),
    language('de', import('@orama/stemmers/german'), frequent.deu),
    language('el', import('@orama/stemmers/greek'), frequent.ell),
    language('en', import('@orama/stemmers/english'), frequent.eng),
    language('es', import('@orama/stemmers/spanish'), frequent.spa),
    language('fi', import('@orama/stemmers/finnish'), frequent.fin),
    language('fr', import('@orama/stemmers/french'), frequent.fra),
    language('ga', import('@orama/stemmers/irish'), frequent.gle),
    language('hu', import('@orama/stemmers/hungarian'), frequent.hun),
    language('hy', import('@orama/stemmers/armenian'), frequent.hye),
    language('id', import('@orama/stemmers/indonesian'), frequent.ind),
    language('it', import('@orama/stemmers/italian'), frequent.ita),
    language('lt', import('@orama/stemmers/lithuanian'), frequent.lit),
    language('nl', import('@orama/stemmers/dutch'), frequent.nld),
    language('no', import('@orama/stemmers/norwegian'), frequent.nob),
    language('pt', import('@orama/stemmers/portuguese'), [...frequent.por, ...frequent.porBr]),
    language('ro', import('@orama/stemmers/romanian'), frequent.ron),
    language('ru', import('@orama/stemmers/russian'), frequent.rus),
    language('sv', import('@orama/stemmers/swedish'), frequent.swe),
    language('tr', import('@orama/stemmers/turkish'), frequent.tur),
    language('uk', import('@orama/stemmers/ukrainian'), frequent.ukr),
  ])
  return new Map(loaded)
}

async function language(
  name: string,
  module: Promise<{ readonly stemmer: Stemmer }>,
  frequent: readonly string[],
): Promise<[string, Language]> {
  const { stemmer } = await module
  return [name, { stem: stemmer, frequent: new Set(frequent.map(folded)) }]
}
