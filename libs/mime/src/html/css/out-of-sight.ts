import { pixels, WINDOW } from './length.ts'

interface Own {
  readonly declared: ReadonlyMap<string, string>
  readonly fontSize: number
}

/** A box of this many pixels shows no letter. */
const NO_BOX = 1
/** Further off than this, in pixels, nothing is part of the page: to the left and above it there is no scrolling. */
const FAR_BEFORE = -900
const FAR_BEHIND = 5_000
/** What does not fit into the box is not seen at once. */
const CUTS = /hidden|clip|scroll|auto/

/** Whether nothing of an element is seen: not shown, no box, cut away, or outside of the page. */
export function isOutOfSight(own: Own): boolean {
  const { declared } = own
  if (declared.get('display') === 'none' || declared.get('content-visibility') === 'hidden') return true
  return hasNoBox(own) || isCutAway(declared) || isOffPage(own) || isShrunk(declared)
}

/** Whether `text-indent` takes a line out of the page, or out of a box that cuts it off. */
export function isIndentedAway({ declared, fontSize }: Own): boolean {
  const indent = inPixels(declared.get('text-indent') ?? '', fontSize) ?? 0
  return isFar(indent) || (indent >= WINDOW.width && CUTS.test(declared.get('overflow') ?? ''))
}

/** Without `overflow: hidden` a box without size shows its text all the same; a largest size of 0 is only set to hide. */
function hasNoBox({ declared, fontSize }: Own): boolean {
  const isNothing = (property: string, most = NO_BOX): boolean => {
    const size = inPixels(declared.get(property) ?? '', fontSize)
    return size !== undefined && size <= most
  }
  if (isNothing('max-height', 0) || isNothing('max-width', 0)) return true
  if (!CUTS.test(declared.get('overflow') ?? '')) return false
  return ['height', 'width', 'max-height', 'max-width', 'line-height'].some((property) =>
    // A line height without a unit is a number of font sizes.
    isNothing(property, property === 'line-height' ? 0 : NO_BOX),
  )
}

function isCutAway(declared: ReadonlyMap<string, string>): boolean {
  const [, corners] = /^rect\(([^()]*)\)/.exec(declared.get('clip') ?? '') ?? []
  if (corners !== undefined) {
    const [top = 0, right = 0, bottom = 0, left = 0] = corners.split(/[\s,]+/).map((side) => Number.parseFloat(side))
    if (right - left <= NO_BOX || bottom - top <= NO_BOX) return true
  }
  const path = declared.get('clip-path') ?? ''
  const [, inset] = /^inset\(\s*([\d.]+)%/.exec(path) ?? []
  if (inset !== undefined && Number(inset) >= 50) return true
  if (/^(?:circle|ellipse)\(\s*0(?:px|%)?[\s)]/.test(path)) return true
  const [, points] = /^polygon\(([^()]*)\)/.exec(path) ?? []
  return points !== undefined && new Set(points.split(',').map((point) => point.trim())).size < 3
}

function isOffPage({ declared, fontSize }: Own): boolean {
  const far = (value = '', turned = 1): boolean => isFar(turned * (inPixels(value, fontSize) ?? 0))
  const moved = /^(?:absolute|fixed|relative|sticky)$/.test(declared.get('position') ?? '')
  if (moved && (far(declared.get('left')) || far(declared.get('top')))) return true
  if (moved && (far(declared.get('right'), -1) || far(declared.get('bottom'), -1))) return true
  if (far(declared.get('margin-left')) || far(declared.get('margin-top'))) return true
  const steps = [...(declared.get('transform') ?? '').matchAll(/translate(?:x|y|3d)?\(([^()]*)\)/g)]
  const words = (declared.get('translate') ?? '').split(/\s+/)
  return words.some((step) => far(step)) || steps.some(([, by = '']) => by.split(',').some((step) => far(step)))
}

function isShrunk(declared: ReadonlyMap<string, string>): boolean {
  // Browsers take 0 for 1.
  if (/^0?\.0\d*[1-9]\d*$|^0*[1-9](?:\.\d*)?%$/.test(declared.get('zoom') ?? '')) return true
  if (/^0(?:\.0\d*)?%?(?:\s|$)/.test(declared.get('scale') ?? '')) return true
  return /scale(?:x|y|3d)?\(\s*(?:[\d.]+\s*,\s*)?0(?:\.0\d*)?\s*[,)]/.test(declared.get('transform') ?? '')
}

function isFar(distance: number): boolean {
  return distance <= FAR_BEFORE || distance >= FAR_BEHIND
}

function inPixels(value: string, fontSize: number): number | undefined {
  return pixels(value, { fontSize, whole: WINDOW.width })
}
