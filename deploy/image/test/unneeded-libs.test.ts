import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { installedPackages, type Package } from '../steps/installed.ts'
import { unneededLibs } from '../steps/unneeded-libs.ts'

const root = path.resolve(import.meta.dirname, '../../..')

function ours(name: string, ...dependencies: string[]): Package {
  const of = dependencies.map((dependency) => `/app/libs/${dependency}`)
  return { name, version: '1.0.0', license: undefined, ours: true, patched: false, dependencies: of }
}

describe('the libs that an image leaves out', () => {
  it('are those that its service depends on neither directly nor through others', () => {
    const packages = new Map([
      ['/app/services/mailer', ours('mailer', 'frame')],
      ['/app/services/other', ours('other', 'only-there')],
      ['/app/libs/frame', ours('frame', 'rules')],
      ['/app/libs/rules', ours('rules')],
      ['/app/libs/only-there', ours('only-there', 'rules')],
      ['/app/node_modules/.pnpm/client', { ...ours('client'), ours: false }],
    ])
    expect(unneededLibs(packages, '/app/services/mailer')).toEqual(['/app/libs/only-there'])
  })

  it('are none that the package.json of a service, or of a lib that it has, names', async () => {
    const packages = await installedPackages(root)
    for (const [folder] of packages) {
      if (path.dirname(folder) !== path.join(root, 'services')) continue
      const left = new Set(unneededLibs(packages, folder))
      const kept = [...packages.keys()].filter((one) => path.dirname(one) === path.join(root, 'libs') && !left.has(one))
      for (const one of [folder, ...kept]) {
        const { dependencies = {} } = JSON.parse(await readFile(path.join(one, 'package.json'), 'utf8'))
        const named = Object.keys(dependencies).filter((name) => name.startsWith('@restante/'))
        const missing = named.filter((name) => left.has(path.join(root, 'libs', name.replace('@restante/', ''))))
        expect({ of: path.relative(root, one), missing }).toEqual({ of: path.relative(root, one), missing: [] })
      }
    }
  })
})
