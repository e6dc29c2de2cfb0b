import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../settings.ts'
import { SLOW_FILES } from '../testing/slow-files.ts'

it('every test file that may take longer than the budget exists', () => {
  expect([...SLOW_FILES.keys()].filter((file) => !existsSync(join(root, file)))).toEqual([])
})
