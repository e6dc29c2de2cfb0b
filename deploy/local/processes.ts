import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Advice } from './progress.ts'

const exec = promisify(execFile)

/** Runs a program to its end and returns what it printed. Throws an `Advice` with its last lines when it fails. */
export async function run(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeout?: number } = {},
): Promise<string> {
  try {
    const { stdout } = await exec(program, args, { maxBuffer: 32 * 1024 * 1024, ...options })
    return stdout
  } catch (error) {
    throw new Advice(`${program} ${args.join(' ')} failed:\n${lastLines(printedBy(error), 25)}`, { cause: error })
  }
}

/** What the program printed before it failed, or why it could not even start. */
function printedBy(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const stdout = 'stdout' in error && typeof error.stdout === 'string' ? error.stdout : ''
  const stderr = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr : ''
  return stdout + stderr || error.message
}

/** The path of a program on PATH, or undefined. */
export async function find(program: string): Promise<string | undefined> {
  return exec('sh', ['-c', 'command -v "$1"', 'sh', program]).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  )
}

export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n')
}

/**
 * Starts a program in a session of its own, so that Ctrl-C in this terminal does not reach it, writing to a log file.
 */
export async function startDetached(
  program: string,
  args: readonly string[],
  options: { log: string; pidFile?: string; cwd?: string; ipc?: boolean },
): Promise<ChildProcess> {
  await mkdir(dirname(options.log), { recursive: true })
  const output = openSync(options.log, 'a')
  const spawnOptions: SpawnOptions = { detached: true, stdio: ['ignore', output, output] }
  if (options.ipc) spawnOptions.stdio = ['ignore', output, output, 'ipc']
  if (options.cwd) spawnOptions.cwd = options.cwd
  const child = spawn(program, args, spawnOptions)
  closeSync(output)
  child.unref()
  if (child.pid === undefined) throw new Advice(`${program} could not be started: is it installed?`)
  if (options.pidFile) await rememberProcess(options.pidFile, child.pid)
  return child
}

/** Records a process by id and start time: after a reboot another process may have the same id. */
export async function rememberProcess(file: string, pid: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${pid}\n${await startTime(pid)}\n`)
}

/** The id of the recorded process, if it is still the same process. */
export async function recallProcess(file: string): Promise<number | undefined> {
  const [pid, started] = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  if (!pid || !started) return undefined
  return (await startTime(Number(pid))) === started ? Number(pid) : undefined
}

/** Empty when there is no such process, or only a zombie of it. */
async function startTime(pid: number): Promise<string> {
  const env = { ...process.env, LC_ALL: 'C' }
  return exec('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env }).then(
    ({ stdout }) => (stdout.trim().startsWith('Z') ? '' : stdout.trim().replace(/^\S+\s+/, '')),
    () => '',
  )
}

/** Ends the recorded process: with a signal, then after `timeout` ms with SIGKILL. */
export async function endProcess(
  file: string,
  options: { signal?: NodeJS.Signals; timeout?: number } = {},
): Promise<void> {
  const pid = await recallProcess(file)
  if (pid !== undefined) {
    signalProcess(pid, options.signal ?? 'SIGTERM')
    const ended = await until(async () => (await recallProcess(file)) === undefined, options.timeout ?? 20_000)
    if (!ended) signalProcess(pid, 'SIGKILL')
  }
  await rm(file, { force: true })
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended in the meantime, as intended.
  }
}

/** Calls `ask` every `interval` ms until it returns true or `timeout` ms have passed; returns the last answer. */
export async function until(ask: () => Promise<boolean>, timeout: number, interval = 100): Promise<boolean> {
  const deadline = performance.now() + timeout
  for (;;) {
    if (await ask()) return true
    if (performance.now() >= deadline) return false
    await sleep(interval)
  }
}

/** Sends bytes to a local port and resolves to the first bytes of the answer, or undefined when none comes in 1 s. */
export function exchange(port: number, request: Buffer | string): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    const end = (answer?: Buffer) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1000, () => end())
    socket.once('error', () => end())
    socket.once('close', () => end())
    socket.once('data', (answer) => end(answer))
    socket.once('connect', () => socket.write(request))
  })
}

/** Whether something accepts connections on a local port. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1000, () => end(false))
    socket.once('error', () => end(false))
    socket.once('connect', () => end(true))
  })
}

export function exists(path: string): Promise<boolean> {
  return succeeds(access(path))
}

/** Whether the work resolves. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}
