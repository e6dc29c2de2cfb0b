// Makes the statements that are made when a function is called, for the check of all statements (tools/statements).
import { claimTimer, claimTimers } from '../src/state/statements.ts'

claimTimer()
claimTimers()
