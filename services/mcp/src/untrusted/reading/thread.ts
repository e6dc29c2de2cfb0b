import { serve } from '@restante/mime/worker'
import { shownBody } from '../shown-body.ts'
import { readTask } from './task.ts'

serve((raw: Buffer) => {
  const { bodies, options } = readTask(raw)
  return shownBody(bodies, options)
})
