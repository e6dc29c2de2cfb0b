/**
 * Writes deploy/observability/dashboards; with `--check` it only reports whether the files are up to date. The sources
 * are `dashboards/`, one file per dashboard.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { eventsOut } from './dashboards/events-out.ts'
import { calendar } from './dashboards/features/calendar.ts'
import { domains } from './dashboards/features/domains.ts'
import { signIn } from './dashboards/features/sign-in.ts'
import { tools } from './dashboards/features/tools.ts'
import { mailIn } from './dashboards/mail/mail-in.ts'
import { mailOut } from './dashboards/mail/mail-out.ts'
import { metrics } from './dashboards/metrics.ts'
import { organization } from './dashboards/organization.ts'
import { overview } from './dashboards/overview.ts'
import { kafka } from './dashboards/platform/kafka.ts'
import { runtime } from './dashboards/platform/runtime.ts'

const folder = path.resolve(import.meta.dirname, '../dashboards')
const dashboards = [
  overview,
  mailIn,
  mailOut,
  eventsOut,
  kafka,
  runtime,
  domains,
  signIn,
  calendar,
  metrics,
  tools,
  organization,
]
const files = new Map(
  dashboards.map((each) => [`${each.uid?.replace('restante-', '')}.json`, `${JSON.stringify(each, null, 2)}\n`]),
)

const existing = await readdir(folder).catch(() => [])
const unknown = existing.filter((file) => !files.has(file))
if (process.argv.includes('--check')) {
  const current = await Promise.all(
    [...files.keys()].map((file) => readFile(path.join(folder, file), 'utf8').catch(() => '')),
  )
  const stale = [...files.values()].some((text, index) => text !== current[index])
  if (stale || unknown.length > 0) {
    process.stderr.write('deploy/observability/dashboards is stale; run npm run generate:docs\n')
    process.exitCode = 1
  }
} else {
  await Promise.all([...files].map(([file, text]) => writeFile(path.join(folder, file), text)))
  await Promise.all(unknown.map((file) => rm(path.join(folder, file))))
}
