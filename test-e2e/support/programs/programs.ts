import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export { describeAtFullLength, describeWith, isInstalled } from '@restante/testkit'

const run = promisify(execFile)

/** Runs a program to its end. @throws Error with its output when it fails. */
export async function output(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, [...args], { maxBuffer: 16 * 1024 * 1024 })
  return stdout
}
