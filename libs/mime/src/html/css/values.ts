import { readColor } from './color.ts'
import { pixels } from './length.ts'

/** What every property takes. */
const GLOBAL = /^(?:inherit|initial|unset|revert|revert-layer)$/
const OVERFLOW = words('visible hidden clip scroll auto overlay')
const SIZE = words('auto none min-content max-content fit-content stretch -webkit-fill-available -moz-available')
const OFFSET = words('auto')

/** The words that each property takes, where it takes no others and no numbers. */
const KEYWORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  display: words(
    'none block inline inline-block flow-root flex inline-flex grid inline-grid table inline-table table-row table-cell ' +
      'table-row-group table-header-group table-footer-group table-column table-column-group table-caption list-item ' +
      'contents run-in ruby math -webkit-box -webkit-inline-box -webkit-flex -ms-flexbox',
  ),
  visibility: words('visible hidden collapse'),
  'content-visibility': words('visible hidden auto'),
  'overflow-x': OVERFLOW,
  'overflow-y': OVERFLOW,
  position: words('static relative absolute fixed sticky -webkit-sticky'),
}

/** The words that each property takes beside lengths. */
const LENGTHS: Readonly<Record<string, ReadonlySet<string>>> = {
  width: SIZE,
  height: SIZE,
  'max-width': SIZE,
  'max-height': SIZE,
  left: OFFSET,
  right: OFFSET,
  top: OFFSET,
  bottom: OFFSET,
  'margin-left': OFFSET,
  'margin-top': OFFSET,
  margin: OFFSET,
  inset: OFFSET,
  translate: words('none'),
  scale: words('none'),
  'text-indent': words('each-line hanging'),
  'letter-spacing': words('normal'),
  'line-height': words('normal'),
  'font-size': words('xx-small x-small small medium large x-large xx-large xxx-large smaller larger'),
}

/** The forms of values that are functions. */
const FUNCTIONS: Readonly<Record<string, RegExp>> = {
  transform: /^(?:none$|(?:matrix|translate|scale|rotate|skew|perspective))/,
  filter:
    /^(?:none$|url\(|(?:blur|brightness|contrast|drop-shadow|grayscale|hue-rotate|invert|opacity|saturate|sepia)\()/,
  clip: /^(?:auto$|rect\()/,
  'clip-path': /^(?:none$|[a-z]+-box|url\(|(?:inset|circle|ellipse|polygon|path|rect|xywh|shape)\()/,
}

const COLORS = new Set(['color', 'background-color', '-webkit-text-fill-color'])

/** Two words for the outside and the inside of a box. */
const DISPLAY_PAIR = /^(?:block|inline|run-in) (?:flow|flow-root|table|flex|grid|ruby|math)$/
/** Functions whose result is not known here. */
const COMPUTED = /\b(?:var|env|calc|min|max|clamp|light-dark|color-mix|fit-content)\(/
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?%?$/

/**
 * Whether browsers take a value for a property. They go on with the one before where they do not, so that it must not
 * show what that one hides. What is computed is taken for valid, as are values of properties that are not listed here.
 */
export function isValue(property: string, value: string): boolean {
  if (value === '') return false
  if (GLOBAL.test(value) || COMPUTED.test(value)) return true
  if (property === 'opacity' || property === 'zoom') return NUMBER.test(value) || value === 'normal'
  if (property === 'overflow') return value.split(/\s+/).every((word) => OVERFLOW.has(word))
  if (property === 'display' && DISPLAY_PAIR.test(value)) return true
  const keywords = KEYWORDS[property]
  if (keywords !== undefined) return keywords.has(value)
  const lengths = LENGTHS[property]
  if (lengths !== undefined) return value.split(/\s+/).every((word) => lengths.has(word) || isLength(word))
  const functions = FUNCTIONS[property]
  if (functions !== undefined) return functions.test(value)
  return !COLORS.has(property) || value === 'currentcolor' || readColor(value) !== undefined
}

function isLength(word: string): boolean {
  return pixels(word, { fontSize: 1, whole: 1 }) !== undefined
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}
