import type { Bodies, BodyOptions } from './shown-body.ts'

/** What a thread is asked to read. */
export interface Task {
  readonly bodies: Bodies
  readonly options: BodyOptions
}

/** A task as a thread receives it. */
export function writeTask({ bodies, options }: Task): Buffer {
  const { text, html, extracted_text, extracted_html } = bodies
  return Buffer.from(JSON.stringify({ bodies: { text, html, extracted_text, extracted_html }, options }))
}

export function readTask(raw: Buffer): Task {
  return JSON.parse(raw.toString('utf8'))
}
