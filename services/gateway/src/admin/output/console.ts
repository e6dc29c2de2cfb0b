import { createInterface } from 'node:readline/promises'
import type { Installation } from '../checks/installation.ts'
import type { Apps } from '../operator/apps.ts'
import type { DeliveryQueue } from '../operator/delivery-queue.ts'
import type { Domains } from '../operator/domains.ts'
import type { Metrics } from '../operator/metrics.ts'
import type { Operator } from '../operator/operator.ts'
import type { WebhookLog } from '../operator/webhook-log.ts'

/** The input and output of a command. */
export interface Console {
  /** The installation; opened on first use, so that help needs no configuration. */
  operator(): Operator
  /** The outbound queue of mail-send; opened on first use too. */
  queue(): DeliveryQueue
  /** The delivery log of webhooks-dispatcher; opened on first use too. */
  webhooks(): WebhookLog
  /** Custom domains of domains-dns; opened on first use too. */
  domains(): Domains
  /** Registered apps of apps-signin; opened on first use too. */
  apps(): Apps
  /** What metrics counts; opened on first use too. */
  metrics(): Metrics
  /** All stores of the installation; opened on first use too. */
  installation(): Installation
  /** Base URL of the public API, as clients use it. */
  publicUrl(): string
  /** Prints a line of the result, for a person or a script. */
  print(line: string): void
  /** Prints a line about progress or an error. */
  say(line: string): void
  /** Asks a question; undefined where no terminal is attached. */
  ask(question: string): Promise<string | undefined>
}

/** Standard output and error of this process; questions are asked only on a terminal. */
export function processConsole(open: Omit<Console, 'print' | 'say' | 'ask'>): Console {
  return {
    ...open,
    print: (line) => void process.stdout.write(`${line}\n`),
    say: (line) => void process.stderr.write(`${line}\n`),
    ask: async (question) => {
      if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
      const lines = createInterface({ input: process.stdin, output: process.stderr })
      // Ctrl-C and the end of the input count as an answer other than the expected one.
      const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
      try {
        return await Promise.race([lines.question(question), closed])
      } finally {
        lines.close()
      }
    },
  }
}
