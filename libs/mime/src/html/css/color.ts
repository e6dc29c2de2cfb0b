import { colord, extend } from 'colord'
import hwb from 'colord/plugins/hwb'
import lab from 'colord/plugins/lab'
import lch from 'colord/plugins/lch'
import names from 'colord/plugins/names'
import oklab from 'colord/plugins/oklab'
import oklch from 'colord/plugins/oklch'

extend([names, hwb, lab, lch, oklab, oklch])

/** Red, green and blue from 0 to 255, and opacity from 0 to 1. */
export interface Color {
  readonly r: number
  readonly g: number
  readonly b: number
  readonly a: number
}

export const BLACK: Color = { r: 0, g: 0, b: 0, a: 1 }
export const WHITE: Color = { r: 255, g: 255, b: 255, a: 1 }
/** What browsers give to links (HTML 15.3.10). */
export const LINK_BLUE: Color = { r: 0, g: 0, b: 238, a: 1 }

/**
 * The largest difference of a channel at which text is taken for invisible: #e8e8e8 on white is, #e0e0e0, which eyes can
 * still find, is not.
 */
const NEARLY_EQUAL = 24

/** A colour value of CSS; undefined for what is none, such as `currentcolor` and `var(--x)`. */
export function readColor(value: string): Color | undefined {
  if (value.length > 100) return undefined
  const color = colord(value.trim())
  return color.isValid() ? color.rgba : undefined
}

/** A colour of an attribute such as `bgcolor`, in which old mail leaves out the `#`. */
export function readAttributeColor(value: string): Color | undefined {
  return readColor(value) ?? readColor(`#${value.trim()}`)
}

/** The colour that is seen where `above` is painted over an opaque one. */
export function painted(above: Color, opacity: number, below: Color): Color {
  const share = above.a * opacity
  const mix = (over: number, under: number): number => over * share + under * (1 - share)
  return { r: mix(above.r, below.r), g: mix(above.g, below.g), b: mix(above.b, below.b), a: 1 }
}

/** Whether a person cannot tell one from the other. */
export function nearlyEqual(one: Color, other: Color): boolean {
  const furthest = Math.max(Math.abs(one.r - other.r), Math.abs(one.g - other.g), Math.abs(one.b - other.b))
  return furthest <= NEARLY_EQUAL
}
