import { asian } from './languages/asian.ts'
import { germanic } from './languages/germanic.ts'
import type { Language } from './languages/language.ts'
import { other } from './languages/other.ts'
import { romance } from './languages/romance.ts'
import { slavic } from './languages/slavic.ts'

const LANGUAGES: readonly Language[] = [...germanic, ...romance, ...slavic, ...asian, ...other]

/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** The words of these fields in all languages, each once, the longest first. */
export function wordsOf(...fields: readonly (keyof Language)[]): string[] {
  const words = LANGUAGES.flatMap((language) => fields.flatMap((field) => language[field]?.split('|') ?? []))
  return [...new Set(words)].sort((a, b) => b.length - a.length)
}

/** Source of a pattern (with flag `u`) that matches any of these words on a folded line, wherever they are. */
export function anyOf(words: readonly string[]): string {
  return `(?:${words.map(escaped).join('|')})`
}

/** The same, only as whole words where the script separates words. */
export function anyWordOf(words: readonly string[]): string {
  const spaced = words.filter((word) => !UNSPACED.test(word))
  const unspaced = words.filter((word) => UNSPACED.test(word))
  const whole = `(?<![\\p{L}\\p{N}])${anyOf(spaced)}(?![\\p{L}\\p{N}])`
  return unspaced.length === 0 ? whole : `(?:${whole}|${anyOf(unspaced)})`
}

function escaped(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll(' ', ' {1,3}')
}
