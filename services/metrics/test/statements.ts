// Makes the statements that are made when a function is called, for the check of all statements (tools/statements).
import { createPartition, dropPartition } from '../src/series/settle.ts'

createPartition(20_700)
dropPartition('runs_from_20700')
