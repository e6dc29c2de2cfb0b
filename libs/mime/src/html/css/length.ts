/** What relative units refer to, in pixels. */
export interface LengthContext {
  readonly fontSize: number
  /** 100 %. */
  readonly whole: number
}

/** The window of a mail program on a desk, for rules that depend on it. */
export const WINDOW = { width: 1_024, height: 768 }

const LENGTH = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(px|pt|pc|in|cm|mm|q|em|rem|ex|ch|lh|vw|vh|vmin|vmax|%|)$/i

const PIXELS: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 9.6 / 2.54,
  q: 2.4 / 2.54,
  rem: 16,
  vw: WINDOW.width / 100,
  vmax: WINDOW.width / 100,
  vh: WINDOW.height / 100,
  vmin: WINDOW.height / 100,
}

/** A length of CSS in pixels; a number without a unit counts as pixels, as mail programs do. Undefined for `auto` etc. */
export function pixels(value: string, { fontSize, whole }: LengthContext): number | undefined {
  const [, number, unit] = LENGTH.exec(value.trim()) ?? []
  if (number === undefined || unit === undefined) return undefined
  return Number(number) * (PIXELS[unit.toLowerCase()] ?? relative(unit.toLowerCase(), fontSize, whole))
}

function relative(unit: string, fontSize: number, whole: number): number {
  if (unit === '%') return whole / 100
  return unit === 'ex' || unit === 'ch' ? fontSize / 2 : fontSize
}
