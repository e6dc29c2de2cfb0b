import { serve } from '../worker/serve.ts'
import { readAggregate } from './read-aggregate.ts'

serve(readAggregate)
