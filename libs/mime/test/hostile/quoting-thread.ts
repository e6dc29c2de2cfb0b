import { serve } from '../../src/worker/serve.ts'

/** Fails as a library does that quotes what it could not read. */
serve((raw: Buffer) => {
  throw new RangeError(`cannot read ${raw.toString()}`, { cause: raw.toString() })
})
