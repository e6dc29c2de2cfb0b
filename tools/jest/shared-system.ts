import { readFileSync } from 'node:fs'

/** What a file names that has a fixture on the shared system. `connectSystem` fails in a file that names none of it. */
const FIXTURES = /\b(useSystem|connectSystem|describeInBrowser)\(/

/**
 * Whether a test file uses the system that the end-to-end tests of a run share. The sequencer starts these files before
 * all others, because the system runs only as long as they do.
 */
export const sharesSystem = (file: string): boolean =>
  file.includes('/test-e2e/') && FIXTURES.test(readFileSync(file, 'utf8'))
