import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Alert, readAlerts, runbooksFolder } from './rules.ts'

const HEADINGS = ['Meaning', 'Impact', 'Diagnosis', 'Mitigation', 'When it is over']

describe('the alerts', () => {
  let alerts: readonly Alert[]
  beforeAll(async () => {
    alerts = await readAlerts()
  })

  it('have each a runbook, which the index names, and every runbook has an alert', async () => {
    const names = [...new Set(alerts.map(({ alert }) => alert))].toSorted()
    for (const { alert, annotations } of alerts) expect(annotations.runbook_url).toBe(`docs/runbooks/${alert}.md`)
    const files = (await readdir(runbooksFolder)).filter((file) => file !== 'README.md')
    expect(files.map((file) => path.parse(file).name).toSorted()).toEqual(names)
    const index = await readFile(path.join(runbooksFolder, 'README.md'), 'utf8')
    expect(names.filter((name) => !index.includes(`(${name}.md)`))).toEqual([])
  })

  it('have runbooks with the same headings', async () => {
    for (const { alert } of alerts) {
      const text = await readFile(path.join(runbooksFolder, `${alert}.md`), 'utf8')
      const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
      expect([alert, ...headings]).toEqual([alert, ...HEADINGS])
      expect(text.startsWith(`# ${alert}\n`)).toBe(true)
    }
  })
})
