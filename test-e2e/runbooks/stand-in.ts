import { spawn } from 'node:child_process'
import { appendFileSync, createReadStream, readFileSync } from 'node:fs'
import { root } from '@restante/local/settings.ts'
import { z } from 'zod'

/**
 * Stands in for `kubectl` and `helm` in the commands of runbooks: what they do inside a container is done with the
 * process of a test. What is about pods, Deployments and releases, which a test without a cluster does not have, is
 * noted in a file.
 */
const installation = z.object({
  services: z.record(z.string(), z.object({ environment: z.record(z.string(), z.string()), log: z.string() })),
  noted: z.string(),
})
type Service = z.infer<typeof installation>['services'][string]

const { services, noted } = installation.parse(
  JSON.parse(readFileSync(process.env['RESTANTE_INSTALLATION'] ?? '', 'utf8')),
)

function serviceOf(name: string, prefix: string): Service {
  const service = services[name.replace(prefix, '')]
  if (service === undefined) throw new Error(`no service is called ${name}`)
  return service
}

/** Runs a program with the variables of a service. Paths in an image are paths in the repository here. */
function runAs({ environment }: Service, [program = '', ...args]: readonly string[]): void {
  const local = args.map((argument) => argument.replace(/^\/app\//, `${root}/`))
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment }
  const child = spawn(program, local, { env, stdio: 'inherit' })
  child.once('exit', (code) => process.exit(code ?? 1))
}

function stand([program = '', option, , ...args]: readonly string[]): void {
  if (option !== '-n') throw new Error(`${program} is called without a namespace`)
  const [verb, object = '', name = ''] = args
  const inside = args.indexOf('--')
  if (verb === 'exec' && inside > 0) {
    runAs(serviceOf(object, 'deploy/restante-'), args.slice(inside + 1))
  } else if (verb === 'logs' && !args.includes('--previous')) {
    const selector = args[args.indexOf('-l') + 1] ?? ''
    createReadStream(serviceOf(selector, 'app.kubernetes.io/component=').log).pipe(process.stdout)
  } else if (verb === 'get' && object === 'secret') {
    const [, variable = ''] = /^jsonpath=\{\.data\.(\w+)\}$/.exec(args.at(-1) ?? '') ?? []
    const value = serviceOf(name, 'restante-').environment[variable] ?? ''
    process.stdout.write(Buffer.from(value).toString('base64'))
  } else {
    appendFileSync(noted, `${[program, ...args].join(' ')}\n`)
  }
}

stand(process.argv.slice(2))
