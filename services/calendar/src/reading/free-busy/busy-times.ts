import type { BusyTimes } from '@restante/contracts/resources'
import { boundaryInstant } from '../../documents/index.ts'
import type { Window } from '../window/window.ts'

/** A time, in milliseconds since 1970, at which somebody is busy, or may be. */
export interface BusySpan {
  readonly from: number
  readonly to: number
  readonly status: 'busy' | 'tentative'
}

/**
 * When somebody is busy within a window: in order and apart from each other. What is certain covers what is not.
 */
export function busyTimes(spans: readonly BusySpan[], window: Window): BusyTimes {
  const inside = spans.map((span) => clipped(span, window)).filter(({ from, to }) => from < to)
  const busy = union(inside.filter(({ status }) => status === 'busy'))
  const tentative = without(union(inside.filter(({ status }) => status === 'tentative')), busy)
  return [...busy, ...tentative]
    .sort((a, b) => a.from - b.from)
    .map(({ from, to, status }) => ({
      start_at: boundaryInstant(new Date(from)),
      end_at: boundaryInstant(new Date(to)),
      status,
    }))
}

const SECOND = 1_000

/** The part of a span within a window. It has whole seconds, as all times of events. */
function clipped({ from, to, status }: BusySpan, { after, before }: Window): BusySpan {
  const first = Math.ceil(after.getTime() / SECOND) * SECOND
  const last = Math.floor(before.getTime() / SECOND) * SECOND
  return { from: Math.max(from, first), to: Math.min(to, last), status }
}

/** Spans of one status without overlaps, in order; those that touch are one. */
function union(spans: readonly BusySpan[]): BusySpan[] {
  const joined: BusySpan[] = []
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last === undefined || span.from > last.to) joined.push(span)
    else if (span.to > last.to) joined[joined.length - 1] = { ...last, to: span.to }
  }
  return joined
}

/** What of some spans no other covers; both are in order and without overlaps. */
function without(spans: readonly BusySpan[], others: readonly BusySpan[]): BusySpan[] {
  const left: BusySpan[] = []
  let next = 0
  for (const span of spans) {
    let { from } = span
    while ((others[next]?.to ?? Number.POSITIVE_INFINITY) <= from) next++
    for (let at = next; from < span.to; at++) {
      const other = others[at]
      const to = Math.min(span.to, other?.from ?? span.to)
      if (from < to) left.push({ ...span, from, to })
      if (other === undefined || other.from >= span.to) break
      from = other.to
    }
  }
  return left
}
