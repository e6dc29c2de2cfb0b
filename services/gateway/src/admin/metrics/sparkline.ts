const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const ZERO = '·'
const NONE = ' '

/**
 * Values as bars of one character each. Zero is a dot and nothing a blank, so that the lowest bar always means that something
 * is there.
 * @param low the value of the lowest bar; the highest value has the highest one.
 */
export function sparkline(values: readonly (number | null)[], low = 0): string {
  const high = values.reduce<number>((most, value) => Math.max(most, value ?? low), low)
  return values.map((value) => (value === null ? NONE : barOf(value, low, high))).join('')
}

function barOf(value: number, low: number, high: number): string {
  if (value === 0) return ZERO
  const place = high === low ? 0 : Math.round(((value - low) / (high - low)) * (BARS.length - 1))
  return BARS[Math.max(place, 0)] ?? ZERO
}
