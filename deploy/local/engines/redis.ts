import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { endProcess, exchange, recallProcess, startDetached } from '../processes.ts'
import type { Settings } from '../settings.ts'
import type { Engine } from './engine.ts'

/** Redis from the system's packages. BullMQ needs `noeviction`: an evicted key would be a lost job. */
export function redis(settings: Settings): Engine {
  const port = settings.port('redis')
  const data = join(settings.state, 'redis')
  const pidFile = join(settings.state, 'run', 'redis.pid')
  const log = join(settings.logs, 'redis.log')
  return {
    name: 'Redis',
    port,
    log,
    async answers() {
      const answer = await exchange(port, 'PING\r\n')
      return answer?.toString().startsWith('+PONG') === true
    },
    process: () => recallProcess(pidFile),
    async start() {
      await mkdir(data, { recursive: true })
      const persistence = ['--appendonly', 'yes', '--save', '']
      const place = ['--bind', '127.0.0.1', '--port', String(port), '--dir', data]
      const limits = ['--maxmemory-policy', 'noeviction']
      await startDetached('redis-server', [...place, ...persistence, ...limits], { log, pidFile })
    },
    stop: () => endProcess(pidFile),
  }
}
