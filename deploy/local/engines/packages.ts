import { existsSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { find, run } from '../processes.ts'
import { Advice, say, step } from '../progress.ts'
import type { EngineName } from './engine.ts'
import { postgresIsInstalled } from './postgres.ts'

interface Program {
  readonly what: string
  readonly installed: () => Promise<boolean>
  /** Debian packages, of which the first available one is used. */
  readonly packages: readonly string[]
}

interface Need extends Program {
  readonly engine: EngineName
}

const needs: readonly Need[] = [
  {
    engine: 'postgres',
    what: 'PostgreSQL 15 or newer (initdb, pg_ctl)',
    installed: postgresIsInstalled,
    packages: ['postgresql'],
  },
  {
    engine: 'redis',
    what: 'Redis 7 (redis-server)',
    installed: () => onPath('redis-server'),
    packages: ['redis-server'],
  },
  {
    engine: 'kafka',
    what: 'Java 17 or newer (java)',
    installed: hasJava,
    packages: ['openjdk-17-jre-headless', 'openjdk-21-jre-headless', 'default-jre-headless'],
  },
  {
    engine: 'kafka',
    what: 'Maven (mvn), which fetches Apache Kafka',
    installed: () => onPath('mvn'),
    packages: ['maven'],
  },
]

/** Real programs that tests drive; where they are missing those tests are counted as skipped. */
const peers: readonly Program[] = [
  { what: 'swaks', installed: () => onPath('swaks'), packages: ['swaks'] },
  {
    what: 'TLS for swaks',
    installed: () => succeeds('perl', ['-MNet::SSLeay', '-e', '1']),
    packages: ['libnet-ssleay-perl'],
  },
  { what: 'Postfix', installed: () => onPath('postfix'), packages: ['postfix'] },
  { what: 'HAProxy', installed: () => onPath('haproxy'), packages: ['haproxy'] },
  { what: 'kcat', installed: () => onPath('kcat'), packages: ['kcat'] },
  { what: 'Chromium', installed: () => onPath('chromium'), packages: ['chromium'] },
  {
    what: 'Python 3 with venv',
    installed: () => succeeds('python3', ['-c', 'import ensurepip, venv']),
    packages: ['python3-venv'],
  },
]

/** Those that only the long form of the tests drives. */
const longPeers: readonly Program[] = [
  { what: 'ClamAV (clamd)', installed: () => onPath('clamd'), packages: ['clamav-daemon'] },
  { what: 'rspamd', installed: () => onPath('rspamd'), packages: ['rspamd'] },
  { what: 'PgBouncer', installed: () => onPath('pgbouncer'), packages: ['pgbouncer'] },
  { what: 'OpenDKIM', installed: () => onPath('opendkim'), packages: ['opendkim'] },
]

/** Those that tests of the chart drive, which do not run without them. */
const chartPeers: readonly Program[] = [
  { what: 'promtool', installed: () => onPath('promtool'), packages: ['prometheus'] },
  {
    what: 'Python 3 with venv',
    installed: () => succeeds('python3', ['-c', 'import ensurepip, venv']),
    packages: ['python3-venv'],
  },
]

/** Installs them on Debian as root. @throws Advice that names the packages elsewhere. */
export async function ensureChartPeers(): Promise<void> {
  const missing = await missingOf(chartPeers)
  if (missing.length === 0) return
  const packages = missing.map((program) => program.packages[0]).join(' ')
  const names = missing.map(({ what }) => what).join(', ')
  if (!(await canInstall())) throw new Advice(`Not installed: ${names}. On Debian: apt-get install -y ${packages}`)
  await step(`Installing ${names}`, () => install(missing))
}

/**
 * Installs the programs for tests on Debian as root, and elsewhere reports which are missing.
 * @param long whether the tests run at full length.
 */
export async function ensurePeers(long = false): Promise<void> {
  const missing = await missingOf(long ? [...peers, ...longPeers] : peers)
  if (missing.length === 0) return
  const names = missing.map(({ what }) => what).join(', ')
  if (await canInstall()) await step(`Installing ${names}`, () => install(missing))
  else say(`Not installed: ${names}. The tests that need them are skipped.`)
}

/** Ensures that the programs of these native engines exist; installs them on Debian as root. */
export async function ensurePrograms(engines: readonly EngineName[]): Promise<void> {
  const missing = await missingOf(needs.filter(({ engine }) => engines.includes(engine)))
  if (missing.length === 0) return
  if (!(await canInstall())) throw new Advice(advice(missing))
  await step(`Installing ${missing.map(({ what }) => what).join(', ')}`, () => install(missing))
}

/** Whether these native engines can run here, or could after `ensurePrograms`. */
export async function canRun(engines: readonly EngineName[]): Promise<boolean> {
  return (await missingOf(needs.filter(({ engine }) => engines.includes(engine)))).length === 0 || canInstall()
}

async function missingOf(programs: readonly Program[]): Promise<Program[]> {
  const checked = await Promise.all(
    programs.map(async (program) => ({ program, installed: await program.installed() })),
  )
  return checked.filter(({ installed }) => !installed).map(({ program }) => program)
}

async function canInstall(): Promise<boolean> {
  return process.getuid?.() === 0 && (await onPath('apt-get'))
}

function advice(missing: readonly Program[]): string {
  return [
    'The engines of the local stack cannot run because this machine lacks:',
    ...missing.map(({ what }) => `  - ${what}`),
    '',
    'Any one of these helps:',
    '  - start a Docker engine (with `docker compose`), and everything runs in it',
    `  - Debian, Ubuntu: sudo apt-get install -y ${missing.map(({ packages }) => packages[0]).join(' ')}`,
    '  - macOS: brew install postgresql@17 redis openjdk@21 maven',
    '  - name engines that you have: DATABASE_URL (a superuser), REDIS_URL, KAFKA_BROKERS',
    '',
    'Then run the command again.',
  ].join('\n')
}

async function install(missing: readonly Program[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update', '-q'], { env }).catch((error) => say(`apt-get update: ${String(error)}`))
  // Postfix prompts for its setup when installed; the tests bring configurations of their own.
  await run(
    'sh',
    [
      '-c',
      "command -v debconf-set-selections > /dev/null && echo 'postfix postfix/main_mailer_type select No configuration' | debconf-set-selections",
    ],
    { env },
  ).catch(() => {})
  const chosen = await Promise.all(missing.map(({ packages }) => firstAvailable(packages)))
  await withoutServices(() => run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...chosen], { env }))
}

async function firstAvailable(packages: readonly string[]): Promise<string> {
  for (const name of packages) {
    const policy = await run('apt-cache', ['policy', name])
    if (/Candidate: (?!\(none\))/.test(policy)) return name
  }
  throw new Advice(`The package archive has none of: ${packages.join(', ')}`)
}

/**
 * Debian starts the servers that it installs, on the usual ports. The stack needs the programs, not a server of the
 * machine.
 */
async function withoutServices<T>(work: () => Promise<T>): Promise<T> {
  const policy = '/usr/sbin/policy-rc.d'
  if (existsSync(policy)) return work()
  await writeFile(policy, '#!/bin/sh\nexit 101\n')
  await chmod(policy, 0o755)
  return work().finally(() => rm(policy))
}

async function onPath(program: string): Promise<boolean> {
  return (await find(program)) !== undefined
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  return run(program, args).then(
    () => true,
    () => false,
  )
}

/** macOS has a `java` that only explains where to get Java, so its version is queried. */
async function hasJava(): Promise<boolean> {
  const version = await run('java', ['--version']).catch(() => '')
  const [, major] = /^\S+ (\d+)/.exec(version) ?? []
  return Number(major) >= 17
}
