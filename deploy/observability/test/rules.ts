import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const observability = path.dirname(import.meta.dirname)
const rulesFolder = path.join(observability, 'alerts')
const unitTestsFolder = path.join(observability, 'test/rules')
export const repository = path.resolve(observability, '../..')
export const runbooksFolder = path.join(repository, 'docs/runbooks')

const alert = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
})
const recording = z.strictObject({ record: z.string(), expr: z.string() })
const ruleFile = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(z.union([alert, recording])) })),
})

const unitTestFile = z.looseObject({
  tests: z.array(
    z.looseObject({
      name: z.string(),
      input_series: z.array(z.strictObject({ series: z.string(), values: z.string() })),
      promql_expr_test: z.array(
        z.strictObject({
          expr: z.string(),
          eval_time: z.string(),
          exp_samples: z.array(z.strictObject({ labels: z.string().optional(), value: z.number() })),
        }),
      ),
    }),
  ),
})

export type Alert = z.infer<typeof alert>
export type UnitTest = z.infer<typeof unitTestFile>['tests'][number]

async function filesOf(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  return names.filter((name) => name.endsWith('.yaml')).map((name) => path.join(folder, name))
}

/** The files with rules of Prometheus. */
export function ruleFiles(): Promise<string[]> {
  return filesOf(rulesFolder)
}

/** The files with unit tests of these rules, for `promtool test rules`. */
export function unitTestFiles(): Promise<string[]> {
  return filesOf(unitTestsFolder)
}

/** Every rule of every file. */
export async function readRules(): Promise<z.infer<typeof ruleFile>['groups'][number]['rules']> {
  const texts = await Promise.all((await ruleFiles()).map((file) => readFile(file, 'utf8')))
  return texts.flatMap((text) => ruleFile.parse(parse(text)).groups.flatMap((group) => group.rules))
}

/** Every alert of every file. Some names occur twice, with different severities. */
export async function readAlerts(): Promise<Alert[]> {
  return (await readRules()).filter((rule) => 'alert' in rule)
}

/** Every unit test of every file. */
export async function readUnitTests(): Promise<UnitTest[]> {
  const texts = await Promise.all((await unitTestFiles()).map((file) => readFile(file, 'utf8')))
  return texts.flatMap((text) => unitTestFile.parse(parse(text)).tests)
}
