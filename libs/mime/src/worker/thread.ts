import type { ParseLimits } from '../limits/limits.ts'
import { readWithin } from '../read/read-mail.ts'
import { toSent } from './sent-mail.ts'
import { serve } from './serve.ts'

serve((raw, limits: ParseLimits) => {
  const sent = toSent(readWithin(raw, limits))
  // Freed explicitly: an idle thread collects no garbage, and this may be 40 MB of it.
  if ('transfer' in raw.buffer) raw.buffer.transfer(0)
  return sent
})
