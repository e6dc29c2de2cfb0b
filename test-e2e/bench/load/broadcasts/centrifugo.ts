import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { listens } from '@restante/local/processes.ts'
import { toolsFolder } from '@restante/local/settings.ts'
import { ensureStreamServer } from '@restante/local/testing/compiled-programs.ts'
import { freePort, waitFor } from '@restante/testkit'
import type { BenchContext } from '../../harness/bench.ts'
import type { Broadcaster } from './broadcaster.ts'

const CHANNEL = 'events'

/** The path of Centrifugo, which is compiled once. Returns `undefined`, with a message, where that cannot be done. */
export async function findCentrifugo(context: BenchContext): Promise<string | undefined> {
  await ensureStreamServer()
  const program = path.join(toolsFolder(process.env), 'bin/centrifugo')
  if (existsSync(program)) return program
  context.say(
    'no comparison with Centrifugo, which is missing: deploy/cluster/programs.sh centrifugo compiles it from the Go module proxy',
  )
  return undefined
}

/**
 * Starts Centrifugo with everything in memory: one channel without history, to which each client subscribes, and its HTTP
 * API, to which the document is published.
 * @param program its path.
 */
export async function startCentrifugo(context: BenchContext, program: string, document: string): Promise<Broadcaster> {
  const [port, key] = [await freePort(), randomBytes(32).toString('base64url')]
  const configuration = path.join(context.folder, 'centrifugo.json')
  await writeFile(configuration, JSON.stringify(configurationOf(port, key)))
  const log = openSync(path.join(context.folder, 'centrifugo.log'), 'a')
  const child = spawn(program, ['--config', configuration], { stdio: ['ignore', log, log], env: {} })
  closeSync(log)
  const server = context.cleanUp({
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null && child.kill()) await once(child, 'exit')
    },
  })
  await waitFor(() => listens(port), { what: `Centrifugo (${context.folder}/centrifugo.log)` })
  return {
    ...server,
    clients: {
      url: `ws://127.0.0.1:${port}/connection/websocket`,
      greeting: { id: 1, connect: {} },
      frames: [{ id: 2, subscribe: { channel: CHANNEL } }],
      confirmation: '"subscribe":',
    },
    async broadcast() {
      const body = `{"channel":"${CHANNEL}","data":${document}}`
      const at = Date.now()
      const response = await fetch(`http://127.0.0.1:${port}/api/publish`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body,
      })
      const answer = await response.text()
      if (!response.ok || answer.includes('"error"')) throw new Error(`Centrifugo refused a publication: ${answer}`)
      return at
    },
  }
}

function configurationOf(port: number, key: string): object {
  return {
    http_server: { address: '127.0.0.1', port },
    http_api: { key },
    client: { allow_anonymous_connect_without_token: true },
    channel: { without_namespace: { allow_subscribe_for_client: true, allow_subscribe_for_anonymous: true } },
    log: { level: 'warn' },
    usage_stats: { disabled: true },
  }
}
