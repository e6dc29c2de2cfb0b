import { readFile } from 'node:fs/promises'
import { text as textOf } from 'node:stream/consumers'
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings'
import type { Console } from '../output/console.ts'
import { givenValues } from '../secrets/given.ts'
import { printSecrets, readSecrets } from '../secrets/manifests.ts'
import { secretVariables } from '../secrets/needed.ts'
import { secretValues } from '../secrets/values.ts'

const URL_OPTION = '{service} in it is the name of the service'

/** The Secrets of an installation on Kubernetes. The command reads and changes nothing of an installation. */
export function addSecretsCommand(root: Command, console: Console): void {
  root
    .command('secrets')
    .description('print the Secrets of all services for kubectl, with fresh keys that agree in pairs')
    .option('--database-url <url>', `PostgreSQL database of each service; ${URL_OPTION}`)
    .option('--database-direct-url <url>', `the same past a transaction pooler; ${URL_OPTION}`)
    .option('--redis-url <url>', `Redis of queues and leases; ${URL_OPTION}`)
    .option('--redis-cache-url <url>', `Redis of counters; ${URL_OPTION}`)
    .option('--kafka-password <password>', 'SASL password at the brokers')
    .option('--s3-access-key <id>', 'access key of the object store')
    .option('--s3-secret-key <key>', 'secret key of the object store')
    .option('--set <service.VARIABLE=value...>', 'value of one secret variable; repeatable')
    .option('--release <name>', 'name of the release, with which the names of Secrets begin', label, 'restante')
    .option('--namespace <name>', 'namespace of the Secrets', label)
    .option('--keep <file>', 'existing Secrets (kubectl get secrets -o json; -: standard input), whose values stay')
    .action(async ({ release, namespace, keep, ...engines }) => {
      const variables = secretVariables()
      const kept = keep === undefined ? new Map() : readSecrets(await contentOf(keep), { release })
      const values = secretValues(variables, { given: givenValues(engines, variables), kept })
      console.print(printSecrets(values, { release, namespace }))
      if (keep === undefined)
        console.say(
          'These keys are new. INSTALLATION_SECRET and ENCRYPTION_KEY must never change: store a copy safely.',
        )
    })
}

function contentOf(file: string): Promise<string> {
  return file === '-' ? textOf(process.stdin) : readFile(file, 'utf8')
}

/** A name of Kubernetes (RFC 1123). */
function label(text: string): string {
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) return text
  throw new InvalidArgumentError('It must be lower-case letters, digits and dashes.')
}
