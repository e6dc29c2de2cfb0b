import type { Release } from './releases.ts'

/**
 * One thing that a migration does to the release before it. `unused`: right when no release that runs beside this one
 * needs what is changed. `small`: right when the table is small. `never`: always wrong.
 */
export interface Finding {
  readonly needs: 'unused' | 'small' | 'never'
  readonly what: string
}

const UNUSED = /^-- unused since (\d+\.\d+\.\d+): \S.*$/m
const SMALL = /^-- small table: \S.*$/m

/**
 * The findings that the comments of a migration do not justify, as sentences.
 * @param recorded the releases so far: what one of them stopped using, none that runs beside this one uses.
 */
export function unjustified(text: string, findings: readonly Finding[], recorded: readonly Release[]): string[] {
  const [, since] = UNUSED.exec(text) ?? []
  const isReleased = recorded.some(({ version }) => version === since)
  return findings.flatMap(({ needs, what }) => {
    if (needs === 'never') return [what]
    if (needs === 'small') return SMALL.test(text) ? [] : [`${what}; say "-- small table: <why>" if it is`]
    if (isReleased) return []
    if (since !== undefined) return [`${what}; ${since} is not released, so a release that uses it may run beside this`]
    return [`${what}; say "-- unused since <release>: <what>" when a release has stopped using it`]
  })
}
