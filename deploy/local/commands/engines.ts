import { keepEngines, stopEngines, useEngines } from '../engines/engines.ts'
import { Advice, say } from '../progress.ts'
import { readSettings } from '../settings.ts'

/**
 * `npm run engines` starts only the engines and leaves them running, for work on single tests; `-- --stop` stops them.
 */
export async function engines(args: readonly string[]): Promise<number> {
  const settings = readSettings(process.env)
  const [argument] = args
  if (argument === '--stop') {
    await stopEngines(settings)
    say('Engines: stopped')
    return 0
  }
  if (argument !== undefined) throw new Advice(`Unknown argument '${argument}'. There is: --stop`)
  await keepEngines(settings)
  const urls = await useEngines(settings, process.env)
  for (const [name, url] of Object.entries(urls)) say(`${name}=${url}`)
  say('They keep running until `npm run engines -- --stop` or `npm stop`.')
  return 0
}
