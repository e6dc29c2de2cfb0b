import { serve } from '../worker/serve.ts'
import { readDocument } from './read-document.ts'

// The bytes are left to the garbage collector: after a text has reached its limit, zlib may still be reading them.
serve(readDocument)
