import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { billOfMaterials } from '../steps/bill-of-materials.ts'
import { installedPackages } from '../steps/installed.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'installed-'))
})
afterEach(() => rm(root, { recursive: true }))

/** A package in a folder, as a package manager leaves it. */
async function put(folder: string, manifest: { name: string; version: string; license?: string }): Promise<void> {
  await mkdir(path.join(root, folder), { recursive: true })
  await writeFile(path.join(root, folder, 'package.json'), JSON.stringify(manifest))
}

async function link(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(path.join(root, from)), { recursive: true })
  await symlink(path.join(root, to), path.join(root, from))
}

/** A service that uses a lib of ours and a patched package, which uses a scoped one. */
async function installation(): Promise<void> {
  const store = 'node_modules/.pnpm'
  await put('services/mailer', { name: '@restante/mailer', version: '0.2.0', license: 'Apache-2.0' })
  await put('libs/frame', { name: '@restante/frame', version: '0.2.0', license: 'Apache-2.0' })
  await put(`${store}/client@1.2.3_patch_hash=abc/node_modules/client`, {
    name: 'client',
    version: '1.2.3',
    license: '(MIT OR GPL-2.0)',
  })
  await put(`${store}/@some+parser@2.0.0/node_modules/@some/parser`, { name: '@some/parser', version: '2.0.0' })
  await link('services/mailer/node_modules/@restante/frame', 'libs/frame')
  await link('services/mailer/node_modules/only-in-development', 'nowhere')
  await link('libs/frame/node_modules/client', `${store}/client@1.2.3_patch_hash=abc/node_modules/client`)
  await link(
    `${store}/client@1.2.3_patch_hash=abc/node_modules/@some/parser`,
    `${store}/@some+parser@2.0.0/node_modules/@some/parser`,
  )
}

describe('the bill of materials of an image', () => {
  it('lists the packages that are installed, with licenses, checksums, patches and dependencies', async () => {
    await installation()
    const integrity = new Map([['client@1.2.3', `sha512-${Buffer.from('checksum').toString('base64')}`]])
    const document = billOfMaterials(await installedPackages(root), '@restante/mailer', integrity)
    expect(document).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { component: { type: 'application', group: '@restante', name: 'mailer', version: '0.2.0' } },
      components: [
        { purl: 'pkg:npm/%40restante/frame@0.2.0', licenses: [{ license: { id: 'Apache-2.0' } }] },
        { purl: 'pkg:npm/%40some/parser@2.0.0' },
        {
          purl: 'pkg:npm/client@1.2.3',
          licenses: [{ expression: '(MIT OR GPL-2.0)' }],
          hashes: [{ alg: 'SHA-512', content: Buffer.from('checksum').toString('hex') }],
          pedigree: { patches: [{ type: 'unofficial' }] },
        },
      ],
      dependencies: [
        { ref: 'pkg:npm/%40restante/frame@0.2.0', dependsOn: ['pkg:npm/client@1.2.3'] },
        { ref: 'pkg:npm/%40restante/mailer@0.2.0', dependsOn: ['pkg:npm/%40restante/frame@0.2.0'] },
        { ref: 'pkg:npm/%40some/parser@2.0.0', dependsOn: [] },
        { ref: 'pkg:npm/client@1.2.3', dependsOn: ['pkg:npm/%40some/parser@2.0.0'] },
      ],
    })
  })

  it('is the same document whenever the same packages are installed', async () => {
    await installation()
    const write = async () => billOfMaterials(await installedPackages(root), '@restante/mailer', new Map())
    expect(await write()).toEqual(await write())
  })

  it('is refused for a service that is not installed', async () => {
    await installation()
    const packages = await installedPackages(root)
    expect(() => billOfMaterials(packages, '@restante/other', new Map())).toThrow(
      '@restante/other is not installed here',
    )
  })
})
