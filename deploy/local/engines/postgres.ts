import { createHash } from 'node:crypto'
import { chmod, chown, mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exists, find, run, succeeds } from '../processes.ts'
import { Advice } from '../progress.ts'
import type { Settings } from '../settings.ts'
import type { Engine, EngineUse } from './engine.ts'

/** Every process has its own pool (six connections by default), and a test run has many processes. */
const maxConnections = 300

/** A test run creates and drops a thousand databases, each of which is otherwise forced to disk. */
const withoutDisk = '-c fsync=off -c full_page_writes=off'

const isRoot = process.getuid?.() === 0

/** PostgreSQL from the system's packages with a cluster of its own: superuser `restante`, loopback only, no password. */
export async function postgres(settings: Settings, { expendable = false }: EngineUse = {}): Promise<Engine> {
  const port = settings.port('postgres')
  const programs = await postgresPrograms()
  const data = await prepareDataDirectory(settings)
  const log = join(data, 'server.log')
  const server = () => serverProcess(join(programs, 'pg_ctl'), data)
  return {
    name: 'PostgreSQL',
    port,
    log,
    answers: () => succeeds(run(join(programs, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)])),
    process: server,
    async start() {
      if (!(await succeeds(asOwner('test', ['-f', join(data, 'PG_VERSION')])))) {
        const cluster = ['-D', data, '-U', 'restante', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']
        await asOwner(join(programs, 'initdb'), cluster)
      }
      const common = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=${maxConnections}`
      const options = expendable ? `${common} ${withoutDisk}` : common
      await asOwner(join(programs, 'pg_ctl'), ['-D', data, '-w', '-s', '-l', log, '-o', options, 'start'])
    },
    async stop() {
      if ((await server()) === undefined) return
      await asOwner(join(programs, 'pg_ctl'), ['-D', data, '-w', '-s', '-m', 'fast', 'stop'])
    },
  }
}

/** The directory of the cluster. Created when missing, and owned by the user that the server runs as. */
async function prepareDataDirectory(settings: Settings): Promise<string> {
  await mkdir(settings.state, { recursive: true })
  const data = await dataDirectory(settings)
  await mkdir(dirname(data), { recursive: true })
  // The server's own user must be able to traverse it, whatever the umask.
  if (isRoot && dirname(data) !== settings.state) await chmod(dirname(data), 0o711)
  await mkdir(data, { recursive: true, mode: 0o700 })
  await giveToOwner(data)
  return data
}

/** Gives files to the user that servers run as: as root, that of the system's packages. */
export async function giveToOwner(...paths: readonly string[]): Promise<void> {
  if (!isRoot) return
  const [uid, gid] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])])
  await Promise.all(paths.map((each) => chown(each, Number(uid), Number(gid))))
}

async function dataDirectory(settings: Settings): Promise<string> {
  const preferred = join(settings.state, 'postgres')
  if (!isRoot) return preferred
  // The server refuses to run as root, and its own user cannot reach, for example, a clone below /root.
  if (await succeeds(asOwner('test', ['-x', settings.state]))) return preferred
  return join('/var/lib/restante', createHash('sha256').update(settings.state).digest('hex').slice(0, 12))
}

/** Whether there is a cluster that could run or be deleted. */
export async function clusterExists(settings: Settings): Promise<boolean> {
  return exists(await dataDirectory(settings))
}

/** Deletes the databases. The server must have been stopped. */
export async function removeCluster(settings: Settings): Promise<void> {
  await rm(await dataDirectory(settings), { recursive: true, force: true })
}

/** Whether the server's programs are installed. */
export function postgresIsInstalled(): Promise<boolean> {
  return succeeds(postgresPrograms())
}

/** The folder of the newest installed server programs: Debian keeps them outside PATH, one folder per version. */
export async function postgresPrograms(): Promise<string> {
  const debian = '/usr/lib/postgresql'
  const versions = (await readdir(debian).catch(() => [])).sort((a, b) => Number(b) - Number(a))
  for (const version of versions) {
    const folder = join(debian, version, 'bin')
    if (await exists(join(folder, 'initdb'))) return folder
  }
  const onPath = await find('initdb')
  if (onPath) return dirname(onPath)
  throw new Advice('PostgreSQL (initdb, pg_ctl) is not installed.')
}

async function serverProcess(pgCtl: string, data: string): Promise<number | undefined> {
  const status = await asOwner(pgCtl, ['-D', data, 'status']).catch(() => '')
  const [, pid] = /\(PID: (\d+)\)/.exec(status) ?? []
  return pid === undefined ? undefined : Number(pid)
}

/** Runs a program of PostgreSQL as the user that servers run as. */
export function asOwner(program: string, args: readonly string[]): Promise<string> {
  if (!isRoot) return run(program, args, { cwd: '/' })
  return run('runuser', ['-u', 'postgres', '--', program, ...args], { cwd: '/' })
}
