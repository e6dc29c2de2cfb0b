/** Runs in the network of a cluster, which main.ts has started: the chart from its installation to its removal. */
import { say } from '@restante/local/progress.ts'
import { diagnosis } from './harness/kubernetes.ts'
import { startMailServer } from './harness/outside.ts'
import type { Part } from './harness/scene.ts'
import { imagesOf } from './images.ts'
import { exchange } from './parts/exchange.ts'
import { install, prepare, uninstall } from './parts/install.ts'
import { kills } from './parts/kills.ts'
import { scaling } from './parts/scaling.ts'
import { rollback, upgrade } from './parts/upgrade.ts'
import { walk } from './parts/walk.ts'

const parts: readonly Part[] = [
  prepare,
  install,
  exchange,
  upgrade,
  kills,
  scaling,
  rollback,
  exchange,
  uninstall,
  walk,
]

const { earlier, current, later } = await imagesOf()
const server = await startMailServer()
let passed = 0
for (const part of parts) {
  say(`${part.name} ...`)
  const start = performance.now()
  try {
    const result = await part.run({ server, earlier, current, later })
    say(`ok: ${part.name} (${((performance.now() - start) / 1000).toFixed(0)} s)\n            ${result}`)
    passed++
  } catch (error) {
    say(`FAILED: ${part.name}\n${error instanceof Error ? error.stack : String(error)}\n\n${await diagnosis()}`)
    break
  }
}
await server.stop()
const failed = passed < parts.length
say(failed ? `FAILED after ${passed} of ${parts.length} parts` : `All ${passed} parts passed`)
process.exit(failed ? 1 : 0)
