import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { exists, listens } from '@restante/local/processes.ts'
import { readSettings } from '@restante/local/settings.ts'
import { describeWith, freePort, waitFor } from '@restante/testkit'
import { endEngines } from './harness/end-engines.ts'
import { MISSING_ENGINES } from './harness/installation.ts'

/** A run of tests in one process, in the middle of a test that has started an engine and a service. */
const PROGRAM = `
  import '@restante/tools/jest/native-runner.ts'
  import { bring } from '@restante/local/engines/engine.ts'
  import { native } from '@restante/local/engines/engines.ts'
  import { readSettings } from '@restante/local/settings.ts'
  import { endEnginesAtExit } from './faults/harness/end-engines.ts'
  import { ServiceProcess } from './stack/service-process.ts'

  const settings = readSettings(process.env)
  endEnginesAtExit(settings)
  await bring(await native.redis(settings))
  const nobody = 'http://127.0.0.1:9'
  const urls = { PUBLIC_URL: nobody, DOCS_URL: nobody, API_URL: nobody, GATEWAY_URL: nobody }
  const keys = { PEER_KEY_GATEWAY: 'a key of the test, with 32 bytes', CALLER_KEY: 'another one of these, 32 bytes too' }
  const environment = { HOST: '127.0.0.1', PORT: process.env['SERVICE_PORT'] ?? '', ...urls, ...keys }
  const service = new ServiceProcess({ name: 'mcp', environment, log: settings.state + '/mcp.log' })
  service.supervise()
  await service.ready()
  process.send?.('ready')
  setInterval(() => undefined, 1_000)
`

describeWith({ programs: [], missing: MISSING_ENGINES }, 'a run of tests that is told to end', () => {
  let state: string
  let run: ChildProcess
  beforeEach(async () => {
    state = await mkdtemp(path.join(tmpdir(), 'interrupted-'))
  })
  afterEach(async () => {
    run.kill('SIGKILL')
    await endEngines(readSettings({ RESTANTE_STATE: state }))
    await rm(state, { recursive: true, force: true })
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('leaves no engine, no data and no service: %s', async (signal) => {
    const [redis, service] = await Promise.all([freePort(), freePort()])
    const variables = { RESTANTE_STATE: state, RESTANTE_REDIS_PORT: String(redis), SERVICE_PORT: String(service) }
    run = spawn(process.execPath, ['--input-type=module-typescript', '--eval', PROGRAM], {
      cwd: path.resolve(import.meta.dirname, '..'),
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const [answer] = await Promise.race([once(run, 'message'), once(run, 'exit')])
    expect(answer).toBe('ready')
    expect([await listens(redis), await listens(service)]).toEqual([true, true])
    run.kill(signal)
    const isGone = async () => !(await listens(redis)) && !(await listens(service)) && !(await exists(state))
    await waitFor(isGone, { what: 'the engine, the service and their folder to be gone' })
  })
})
