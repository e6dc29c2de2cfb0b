// Makes the statements that are made when a function is called, for the check of all statements (tools/statements).
import { claimTimers } from '../src/state/statements.ts'

claimTimers()
