import { createRequire, flushCompileCache } from 'node:module'
import { constants } from 'node:os'
import { pathToFileURL } from 'node:url'
import { underLoad } from '@restante/testkit/machine-load'

const require = createRequire(import.meta.url)

/** The function of jest that runs one test file. `npm test` names this module in `testRunner` of its configuration. */
type TestFramework = (
  globalConfig: unknown,
  projectConfig: unknown,
  environment: Environment,
  runtime: object,
  testPath: string,
  sendMessage: unknown,
) => Promise<object>

interface Environment {
  readonly global: { console: Console }
  handleTestEvent?(event: CircusEvent, state: { testTimeout: number }): void
}

/** The events of jest-circus that define a timeout. */
interface CircusEvent {
  readonly name: string
  readonly hook?: { timeout: number | undefined }
  readonly test?: { timeout: number | undefined }
}

const circus: { default: TestFramework } = require('jest-circus/runner')

/** Globals in which jest-circus keeps the state of one file: the tree of its tests, and their event handlers. */
const STATE = 'JEST_STATE_SYMBOL'
const HANDLERS = Symbol.for('EVENT_HANDLERS')

// What the files of a worker share, such as a gateway, keeps the worker alive. So it exits by itself: when jest is gone,
// and when jest has told it to end, after which it no longer listens for messages.
const exit = () => process.exit()
process.once('disconnect', exit)
process.on('removeListener', (event) => {
  if (event === 'message') exit()
})

// A signal would end it without an exit, at which what a test has started is ended. jest starts a worker again that exits
// with another code than that of SIGTERM.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(128 + constants.signals.SIGTERM))
}

const imported = new Set<string>()

/**
 * Imports modules as Node does, instead of evaluating every module again in a context per test file. A file that this
 * process has imported before is a new module, as in watch mode.
 */
function importNatively(path: string): Promise<unknown> {
  const url = pathToFileURL(path)
  if (imported.size === imported.add(path).size) url.searchParams.set('again', String(performance.now()))
  return import(url.href)
}

/** The part of jest's module system that jest-circus uses, on the modules of this process. */
const nativeRuntime = {
  /** jest-circus creates its state when it is loaded, so each test file loads it again. */
  requireInternalModule(path: string): unknown {
    delete require.cache[path]
    return require(path)
  },
  requireModule: require,
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: importNatively,
  setGlobalsForRuntime: () => undefined,
  enterTestCode: () => undefined,
  leaveTestCode: () => undefined,
}

function forgetTests(): void {
  Reflect.deleteProperty(globalThis, HANDLERS)
  for (const key of Object.getOwnPropertySymbols(globalThis)) {
    if (key.description === STATE) Reflect.deleteProperty(globalThis, key)
  }
}

/** The timeouts of tests and hooks. A `beforeEach` runs many times, each with its own event. */
const limits = new WeakMap<object, number>()

/** Extends the timeouts of tests and hooks on a machine with other load. */
function allowForLoad({ name, hook, test }: CircusEvent, state: { testTimeout: number }): void {
  const limited = name === 'hook_start' ? hook : name === 'test_start' ? test : undefined
  if (limited === undefined) return
  const limit = limits.get(limited) ?? limited.timeout ?? state.testTimeout
  limits.set(limited, limit)
  limited.timeout = underLoad(limit)
}

/**
 * Runs a test file with jest-circus in the worker's own global scope and module registry: no VM context, no transform,
 * and every module is compiled once per worker. Modules keep their state between the files of a worker, so a test
 * relies on nothing that another file may have changed.
 */
const runNatively: TestFramework = async (
  globalConfig,
  projectConfig,
  environment,
  _runtime,
  testPath,
  sendMessage,
) => {
  const { console } = globalThis
  globalThis.console = environment.global.console
  try {
    return await circus.default(
      globalConfig,
      projectConfig,
      { global: globalThis, handleTestEvent: allowForLoad },
      nativeRuntime,
      testPath,
      sendMessage,
    )
  } finally {
    globalThis.console = console
    forgetTests()
    // Left to the exit of the worker, new entries of the cache take longer than the half second that jest gives it.
    flushCompileCache()
  }
}

export default runNatively
