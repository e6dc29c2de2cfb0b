import { ApiError, notFound } from '@restante/service/errors'
import type { DraftRow } from './store.ts'

/** A draft that a request may change or send. @throws ApiError 404; 409 while it is being sent */
export function changeable(row: DraftRow | undefined): DraftRow {
  if (!row) throw notFound('Draft')
  if (row.send_status !== 'sending') return row
  throw new ApiError('conflict', {
    message: 'The draft is being sent',
    fix: 'It can no longer be changed; if sending fails, its send_status becomes failed.',
  })
}
