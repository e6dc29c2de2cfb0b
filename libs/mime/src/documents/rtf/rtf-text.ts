import { decodeCharset } from '../../decode/charset.ts'
import { type DocumentLimits, UnreadableDocumentError } from '../text/limits.ts'
import type { PlainText } from '../text/plain-text.ts'
import { charsetOf, codePageOf } from './charsets.ts'
import { type RtfToken, rtfTokens } from './tokens.ts'
import { SHOWN_OPTIONS, SYMBOLS, UNSHOWN, WORDS } from './vocabulary.ts'

/** What a group inherits from the one around it, and does not change outside. */
interface Group {
  readonly isShown: boolean
  /** Marked as deleted, or as hidden. */
  readonly isDeleted: boolean
  readonly isHidden: boolean
  readonly isFontTable: boolean
  /** Characters after `\u` that stand in for it. */
  readonly standIns: number
  readonly font: number | undefined
}

/** Fonts that are kept. */
const MOST_FONTS = 10_000
const WORDS_OF_CHARSETS: Readonly<Record<string, number>> = { ansi: 1252, mac: 10_000, pc: 437, pca: 850 }

/** The text of RTF: a line for each paragraph, and for each row of a table, whose cells are separated by tabs. */
export function readRtf(bytes: Buffer, out: PlainText, { depth }: DocumentLimits): void {
  const text = new RtfText(out, depth)
  for (const token of rtfTokens(bytes.toString('latin1'))) {
    if (out.isFull) return
    text.read(token)
  }
  text.end()
}

class RtfText {
  readonly #out: PlainText
  readonly #depth: number
  readonly #codePages = new Map<number, number>()
  readonly #outer: Group[] = []
  #group: Group = { isShown: true, isDeleted: false, isHidden: false, isFontTable: false, standIns: 1, font: undefined }
  #codePage = 1252
  #defaultFont: number | undefined
  /** Bytes that are decoded together: a character may have several. */
  #bytes: string[] = []
  /** Characters still to come that stand in for the one before. */
  #skipped = 0
  /** The token before was `\*`. */
  #isOption = false

  constructor(out: PlainText, depth: number) {
    this.#out = out
    this.#depth = depth
  }

  read(token: RtfToken): void {
    if (token.kind === 'bytes') this.#readBytes(token.bytes)
    else if (token.kind === 'open') this.#open()
    else if (token.kind === 'close') this.#close()
    else if (token.kind === 'symbol') this.#readSymbol(token.symbol)
    else this.#readWord(token.word, token.value)
    if (token.kind !== 'symbol') this.#isOption = false
  }

  end(): void {
    if (this.#bytes.length === 0) return
    const { font = this.#defaultFont } = this.#group
    const codePage = (font === undefined ? undefined : this.#codePages.get(font)) ?? this.#codePage
    this.#out.add(decodeCharset(Buffer.from(this.#bytes.join(''), 'latin1'), charsetOf(codePage)))
    this.#bytes = []
  }

  get #isShown(): boolean {
    const { isShown, isDeleted, isHidden, isFontTable } = this.#group
    return isShown && !isDeleted && !isHidden && !isFontTable
  }

  #readBytes(bytes: string): void {
    const kept = bytes.slice(this.#skipped)
    this.#skipped -= bytes.length - kept.length
    if (kept !== '' && this.#isShown) this.#bytes.push(kept)
  }

  #show(text: string): void {
    this.end()
    if (this.#isShown) this.#out.add(text)
  }

  #open(): void {
    this.end()
    if (this.#outer.length >= this.#depth) throw new UnreadableDocumentError('damaged')
    this.#skipped = 0
    this.#outer.push(this.#group)
  }

  #close(): void {
    this.end()
    this.#skipped = 0
    this.#group = this.#outer.pop() ?? this.#group
  }

  #readSymbol(symbol: string): void {
    this.#isOption = symbol === '*'
    if (this.#skipped > 0) this.#skipped--
    else if (Object.hasOwn(SYMBOLS, symbol)) this.#show(SYMBOLS[symbol] ?? '')
  }

  #readWord(word: string, value: number | undefined): void {
    if (word === 'u') this.#readUnicode(value ?? 0)
    else if (UNSHOWN.has(word) || (this.#isOption && !SHOWN_OPTIONS.has(word))) this.#change({ isShown: false })
    else if (Object.hasOwn(WORDS, word)) this.#show(WORDS[word] ?? '')
    else if (Object.hasOwn(WORDS_OF_CHARSETS, word)) this.#codePage = WORDS_OF_CHARSETS[word] ?? 1252
    else this.#readSetting(word, value)
  }

  #readSetting(word: string, value: number | undefined): void {
    if (word === 'ansicpg' && value !== undefined) this.#codePage = value
    else if (word === 'deff') this.#defaultFont = value
    else if (word === 'uc') this.#change({ standIns: Math.min(16, Math.max(0, value ?? 1)) })
    else if (word === 'fonttbl') this.#change({ isFontTable: true })
    else if (word === 'f') this.#change({ font: value })
    else if (word === 'fcharset') this.#readFontCharset(value ?? 1)
    else if (word === 'plain') this.#change({ font: this.#defaultFont, isHidden: false, isDeleted: false })
    else if (word === 'v') this.#change({ isHidden: value !== 0 })
    else if (word === 'deleted') this.#change({ isDeleted: value !== 0 })
  }

  /** UTF-16, of which values above 32,767 are written as negative ones. */
  #readUnicode(value: number): void {
    this.#show(String.fromCharCode(value & 0xffff))
    this.#skipped = this.#group.standIns
  }

  #readFontCharset(charset: number): void {
    const { isFontTable, font } = this.#group
    const codePage = codePageOf(charset)
    if (isFontTable && font !== undefined && codePage !== undefined && this.#codePages.size < MOST_FONTS) {
      this.#codePages.set(font, codePage)
    }
  }

  #change(changes: Partial<Group>): void {
    this.end()
    this.#group = { ...this.#group, ...changes }
  }
}
