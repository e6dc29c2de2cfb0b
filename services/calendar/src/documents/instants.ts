/** An instant as boundaries are written: without a fraction (calendar 3.2). */
export function boundaryInstant(instant: Date): string {
  return `${instant.toISOString().slice(0, -'.000Z'.length)}Z`
}
