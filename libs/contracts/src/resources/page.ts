import { z } from 'zod'

/** Members of every list response in addition to its items (identity 1.4). */
export const PAGE = {
  count: z.int().meta({ description: 'Items on this page.' }),
  limit: z.int().optional().meta({ description: 'The limit applied; only when the request carried one.' }),
  next_page_token: z
    .string()
    .optional()
    .meta({ description: 'Only while more may remain; its absence ends the walk.' }),
}
