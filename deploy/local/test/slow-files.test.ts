import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../settings.ts'
import { SLOW_FILES } from '../testing/slow-files.ts'
import { SLOW_SUITES } from '../testing/slow-suites.ts'

const missing = (files: Iterable<string>): string[] => [...files].filter((file) => !existsSync(join(root, file)))

it('every test file that may take longer than the budget exists', () => {
  expect(missing(SLOW_FILES.keys())).toEqual([])
})

it('every slow suite exists, and has no other reason to take long', () => {
  expect(missing(SLOW_SUITES.keys())).toEqual([])
  expect([...SLOW_SUITES.keys()].filter((file) => SLOW_FILES.has(file))).toEqual([])
})
