import { serve } from '@restante/mime/worker'
import { readCalendar } from './read-calendar.ts'

serve((bytes: Buffer) => readCalendar(bytes))
