import { serve } from '@restante/mime/worker'
import { readTask } from './body-task.ts'
import { shownBody } from './shown-body.ts'

serve((raw: Buffer) => {
  const { bodies, options } = readTask(raw)
  return shownBody(bodies, options)
})
