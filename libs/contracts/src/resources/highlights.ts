import { z } from 'zod'

const fragments = z.array(z.string()).optional()

/** Where a search matched, by field: up to three fragments each, with the matched words between `**` (mail 17). */
export const highlights = z
  .object({ from: fragments, recipients: fragments, subject: fragments, text: fragments })
  .meta({ id: 'Highlights', description: 'A field that did not match is absent.' })
export type Highlights = z.infer<typeof highlights>
