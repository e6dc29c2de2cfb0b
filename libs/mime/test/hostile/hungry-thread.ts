import { serve } from '../../src/worker/serve.ts'

interface Piece {
  readonly text: string
  readonly before: Piece | undefined
}

/**
 * Needs memory without end for a mail `hungry`. It takes it in small pieces: a thread that asks for much at once ends the
 * process.
 */
serve((raw: Buffer) => {
  const text = raw.toString()
  for (let last: Piece | undefined; text === 'hungry'; ) last = { text: Math.random().toString(), before: last }
  return text
})
