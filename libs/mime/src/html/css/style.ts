import { BLACK, type Color, LINK_BLUE, nearlyEqual, painted, readAttributeColor, readColor, WHITE } from './color.ts'
import type { Declaration } from './declarations.ts'
import { pixels, WINDOW } from './length.ts'
import { isIndentedAway, isOutOfSight } from './out-of-sight.ts'
import { attributeOf, type Element } from './selector.ts'
import { isValue } from './values.ts'

/** What is known of an element's looks, with what it has from the elements around it. */
export interface Style {
  /** Nothing in it is seen, whatever is declared inside. */
  readonly gone: boolean
  readonly invisible: boolean
  readonly color: Color
  /** What is painted below its text; undefined when that is a picture. */
  readonly background: Color | undefined
  readonly opacity: number
  readonly fontSize: number
  /** Its letters are drawn on top of each other. */
  readonly squeezed: boolean
  /** Its lines begin outside of the page. */
  readonly indented: boolean
}

/** Text at this size in pixels is a row of dots at best. */
const UNREADABLE_SIZE = 2
const UNREADABLE_OPACITY = 0.1
const SIZE_NAMES: Readonly<Record<string, number>> = {
  'xx-small': 9,
  'x-small': 10,
  small: 13,
  medium: 16,
  large: 18,
  'x-large': 24,
  'xx-large': 32,
}

export const PAGE: Style = {
  gone: false,
  invisible: false,
  color: BLACK,
  background: WHITE,
  opacity: 1,
  fontSize: 16,
  squeezed: false,
  indented: false,
}

/** Elements that show nothing of their content, or show it only where a program cannot do what they ask for. */
const UNSHOWN = new Set(
  (
    'head title style script template noscript noembed noframes iframe object applet audio video canvas datalist rp ' +
    'desc metadata defs annotation annotation-xml'
  ).split(' '),
)

/** Whether a person sees text in this style. */
export function isSeen(style: Style): boolean {
  if (style.gone || style.invisible || style.squeezed || style.indented) return false
  if (style.fontSize <= UNREADABLE_SIZE) return false
  if (style.background === undefined) return style.color.a * style.opacity >= UNREADABLE_OPACITY
  return !nearlyEqual(painted(style.color, style.opacity, style.background), style.background)
}

/** The style of an element inside another. @param declarations in ascending precedence */
export function styleOf(element: Element, declarations: readonly Declaration[], around: Style): Style {
  if (around.gone || UNSHOWN.has(element.tagName)) return around.gone ? around : { ...around, gone: true }
  const declared = cascade(element, declarations)
  if (declared.size === 0 && !hasOwnColors(element)) return around
  const fontSize = fontSizeOf(declared, around.fontSize)
  const own = { declared, fontSize }
  const visibility = declared.get('visibility') ?? ''
  return {
    gone: isOutOfSight(own),
    invisible: /^(?:hidden|collapse)$/.test(visibility) || (visibility !== 'visible' && around.invisible),
    color: colorOf(element, declared) ?? around.color,
    background: backgroundOf(element, declared, around.background),
    opacity: around.opacity * opacityOf(declared),
    fontSize,
    squeezed: squeezes(declared.get('letter-spacing'), fontSize) ?? around.squeezed,
    indented: declared.has('text-indent') ? isIndentedAway(own) : around.indented,
  }
}

function cascade(element: Element, declarations: readonly Declaration[]): Map<string, string> {
  const declared = new Map<string, string>()
  if (attributeOf(element, 'hidden') !== undefined) declared.set('display', 'none')
  if (element.tagName === 'dialog' && attributeOf(element, 'open') === undefined) declared.set('display', 'none')
  for (const important of [false, true]) {
    for (const declaration of declarations) {
      if (declaration.important !== important) continue
      set(declared, declaration)
    }
  }
  return declared
}

/** Names that depend on the direction of writing, as they are for lines from left to right. */
const PHYSICAL: Readonly<Record<string, string>> = {
  'inline-size': 'width',
  'block-size': 'height',
  'max-inline-size': 'max-width',
  'max-block-size': 'max-height',
  'inset-inline-start': 'left',
  'inset-block-start': 'top',
  'margin-inline-start': 'margin-left',
  'margin-block-start': 'margin-top',
}

/** A shorthand sets what it is short for, so that the later of both applies. */
function set(declared: Map<string, string>, { property: named, value }: Declaration): void {
  const property = PHYSICAL[named] ?? named
  if (!isValue(property, value)) return
  if (property === 'background') {
    declared.set('background-color', colorIn(value))
    declared.set('background-image', value)
  } else if (property === 'font') {
    const size = value.split(/\s+/).find((word) => /^[\d.+]/.test(word) && !/^\d00$/.test(word))
    if (size !== undefined) declared.set('font-size', size.split('/')[0] ?? '')
  } else if (property === 'overflow-x' || property === 'overflow-y') declared.set('overflow', value)
  else if (property === 'margin') {
    const [top = '', right = top, , left = right] = value.split(/\s+/)
    declared.set('margin-top', top).set('margin-left', left)
  } else if (property === 'inset') {
    const [top = '', right = top, bottom = top, left = right] = value.split(/\s+/)
    declared.set('top', top).set('right', right).set('bottom', bottom).set('left', left)
  } else declared.set(property, value)
}

/** The colour among the words of a `background`; without one it is transparent. */
function colorIn(value: string): string {
  const words = value.replace(/url\([^()]*\)/g, ' ').match(/[a-z]+\([^()]*\)|[^\s,]+/g) ?? []
  return words.find((word) => readColor(word) !== undefined) ?? 'transparent'
}

function hasOwnColors(element: Element): boolean {
  return element.attrs.some(({ name }) => /^(?:color|bgcolor|text|href|background)$/.test(name)) || isControl(element)
}

function isControl({ tagName }: Element): boolean {
  return tagName === 'button' || tagName === 'mark' || tagName === 'select' || tagName === 'textarea'
}

function colorOf(element: Element, declared: ReadonlyMap<string, string>): Color | undefined {
  const color = readColor(declared.get('-webkit-text-fill-color') ?? declared.get('color') ?? '')
  if (color !== undefined) return color
  if (/^(?:inherit|currentcolor|unset)$/.test(declared.get('color') ?? '')) return undefined
  if (element.tagName === 'font') return readAttributeColor(attributeOf(element, 'color') ?? '')
  if (element.tagName === 'body') return readAttributeColor(attributeOf(element, 'text') ?? '')
  if (element.tagName === 'a' && attributeOf(element, 'href') !== undefined) return LINK_BLUE
  return isControl(element) ? BLACK : undefined
}

/**
 * A picture may have any colour: what stands on one is taken for visible, unless the page names a colour for the time
 * until the picture is there.
 */
function backgroundOf(
  element: Element,
  declared: ReadonlyMap<string, string>,
  below: Color | undefined,
): Color | undefined {
  const color =
    readColor(declared.get('background-color') ?? '') ??
    readAttributeColor(attributeOf(element, 'bgcolor') ?? '') ??
    controlBackground(element)
  if (color !== undefined && color.a > 0) {
    if (below !== undefined) return painted(color, 1, below)
    return color.a === 1 ? color : undefined
  }
  const image = `${declared.get('background-image') ?? ''} ${attributeOf(element, 'background') ? 'url(' : ''}`
  return /url\(|gradient\(|image-set\(|element\(/.test(image) ? undefined : below
}

function controlBackground(element: Element): Color | undefined {
  if (element.tagName === 'mark') return readColor('yellow')
  return isControl(element) ? readColor('#efefef') : undefined
}

function opacityOf(declared: ReadonlyMap<string, string>): number {
  const [, filter] = /opacity\(\s*([\d.]+%?)\s*\)/.exec(declared.get('filter') ?? '') ?? []
  return share(declared.get('opacity')) * share(filter)
}

function share(value = ''): number {
  const number = Number.parseFloat(value) / (value.endsWith('%') ? 100 : 1)
  return Number.isNaN(number) ? 1 : Math.min(1, Math.max(0, number))
}

function fontSizeOf(declared: ReadonlyMap<string, string>, around: number): number {
  const value = declared.get('font-size') ?? ''
  const [, math] = /^(?:calc|min|max|clamp)\(\s*([^\s,+*/()]+)\s*(?:,[^()]*)?\)$/.exec(value) ?? []
  return SIZE_NAMES[value] ?? pixels(math ?? value, { fontSize: around, whole: around }) ?? around
}

function squeezes(spacing: string | undefined, fontSize: number): boolean | undefined {
  const space = pixels(spacing ?? '', { fontSize, whole: WINDOW.width })
  if (space !== undefined) return space <= -fontSize / 2
  return spacing === undefined ? undefined : false
}
