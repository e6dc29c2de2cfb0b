import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { SERVICES } from '@restante/contracts/vocabulary'
import { documentedValues, flat } from '../generate/values.ts'
import { chart, root } from './support/rendering.ts'
import { describedServices } from './support/services.ts'

const run = promisify(execFile)

describe('the generated files of the chart', () => {
  it('are those of the code as it is', async () => {
    const { stdout } = await run(process.execPath, [path.join(root, 'helm/generate/main.ts'), '--check'])
    expect(stdout).toBe('The files of the chart are up to date.\n')
  })

  it('name every service, its consumers with their dead letters, and its secrets', async () => {
    const services = await describedServices()
    expect(Object.keys(services)).toEqual([...SERVICES])
    expect(services['webhooks-dispatcher']?.groups).toContainEqual({
      name: 'webhooks-dispatcher.public-events',
      topics: ['mail.messages', 'domains.events', 'calendar.events'],
      deadLetters: 'webhooks-dispatcher.public-events.dlq',
    })
    expect(services['gateway']?.writes).toEqual(['tenancy'])
    expect(services['websocket-fanout']?.writes).toEqual([])
    expect(services['mail-send']?.variables['RETURN_PATH_SECRET']).toMatchObject({ confidential: 'shared' })
  })

  it('take no variable for a setting whose name says that it is a secret', async () => {
    const services = await describedServices()
    const open = Object.values(services).flatMap(({ variables }) =>
      Object.entries(variables).flatMap(([name, { confidential }]) => (confidential === undefined ? [name] : [])),
    )
    expect(
      open
        .filter((name) => /SECRET|PASSWORD|(^|_)KEYS?($|_)/.test(name))
        .toSorted()
        .filter((name, index, all) => all[index - 1] !== name),
    ).toEqual([
      // Files and names of keys, not keys.
      'DKIM_ED25519_KEY_FILE',
      'DKIM_KEY_FILE',
      'DOMAIN_CONNECT_KEY_DOMAIN',
      'DOMAIN_CONNECT_KEY_FILE',
      'DOMAIN_CONNECT_KEY_LABEL',
      'SMTP_TLS_KEY',
    ])
  })
})

describe('values.yaml', () => {
  it('is read with the comment of every value, and refused without', async () => {
    const text =
      '# Above the file.\n\n# A name.\nname: x\n# A group.\ngroup:\n  # Its first.\n  first: 1\n  # Its second,\n  # on two lines.\n  second: []\n'
    const values = flat(documentedValues(text, () => false))
    expect(values.map(({ path: name, meaning }) => [name, meaning])).toEqual([
      ['name', 'A name.'],
      ['group', 'A group.'],
      ['group.first', 'Its first.'],
      ['group.second', 'Its second, on two lines.'],
    ])
    expect(() => documentedValues('# A name.\nname: x\nother: y\n', () => false)).toThrow(
      'no comment in values.yaml: other',
    )
    expect(await readFile(path.join(chart, 'values.yaml'), 'utf8')).toContain('services:')
  })
})
