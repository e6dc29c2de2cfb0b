import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { chart } from './rendering.ts'

const document = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      writes: z.array(z.string()),
      groups: z.array(z.object({ name: z.string(), topics: z.array(z.string()), deadLetters: z.string() })),
      variables: z.record(z.string(), z.looseObject({ confidential: z.enum(['own', 'shared']).optional() })),
    }),
  ),
})

/**
 * What the chart knows of the services. Read from the file, whose freshness a test checks in a process of its own: services
 * that are composed without being started would keep this one from ending.
 */
export async function describedServices(): Promise<z.output<typeof document>['services']> {
  const text = await readFile(path.join(chart, 'files/services.json'), 'utf8')
  return document.parse(JSON.parse(text)).services
}
