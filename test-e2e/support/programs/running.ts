import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { waitFor } from '@restante/testkit'
import type { Example } from '../fenced.ts'

/** Where the programs find the packages that they import. */
const PACKAGES = path.resolve(import.meta.dirname, '../..')

/** A running program of a document, with its output so far. */
export class Running {
  readonly child: ChildProcess
  printed = ''
  complaints = ''

  /**
   * Runs an example as it is written.
   * @param python the interpreter of examples in Python. @param cwd where packages of examples in JavaScript are found.
   */
  static start(
    { language, code }: Pick<Example, 'language' | 'code'>,
    python: string,
    environment: Readonly<Record<string, string>>,
    cwd: string = PACKAGES,
  ): Running {
    switch (language) {
      case 'js':
        return new Running(process.execPath, ['--input-type=module', '--eval', code], environment, cwd)
      case 'ts':
        return new Running(process.execPath, ['--input-type=module-typescript', '--eval', code], environment, cwd)
      case 'python':
        return new Running(python, ['-c', code], environment, cwd)
      case 'sh':
        return new Running('sh', ['-e', '-c', code], environment, cwd)
      default:
        throw new Error(`a test cannot run examples in ${language}`)
    }
  }

  private constructor(
    program: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    cwd: string,
  ) {
    this.child = spawn(program, args, {
      cwd,
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child.stdout?.on('data', (bytes: Buffer) => {
      this.printed += bytes.toString()
    })
    this.child.stderr?.on('data', (bytes: Buffer) => {
      this.complaints += bytes.toString()
    })
  }

  /** @returns its output. @throws Error unless it exits with 0. */
  async end(): Promise<string> {
    const [code] = await once(this.child, 'close')
    if (code !== 0) throw new Error(`it ended with ${code}: ${this.complaints}`)
    return this.printed
  }

  async prints(lines: readonly string[]): Promise<void> {
    await waitFor(() => this.printed.trim() === lines.join('\n'), {
      what: `${lines.join(', ')} from the program`,
    })
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'close')
    this.child.kill('SIGKILL')
    await ended
  }
}
