import type { ChildProcess } from 'node:child_process'

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Ends a child with this process, which may be told to exit in the middle of a test. @returns the child. */
export function endWithThisProcess(child: ChildProcess): ChildProcess {
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}
