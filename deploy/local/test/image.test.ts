import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../settings.ts'

describe('the container image', () => {
  it('has one base image, by default the exact tag of the tested Node, which a release can pin by digest', async () => {
    const dockerfile = await readFile(join(root, 'deploy/image/Dockerfile'), 'utf8')
    const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect(/^ARG NODE_IMAGE=(.+)$/m.exec(dockerfile)?.[1]).toBe(`node:${devDependencies.node}-slim`)
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    expect(new Set(bases)).toEqual(new Set(['${' + 'NODE_IMAGE}']))
  })

  it('installs with the exact pnpm that the repository names', async () => {
    const dockerfile = await readFile(join(root, 'deploy/image/Dockerfile'), 'utf8')
    const { packageManager } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect(/ (pnpm@\S+)$/m.exec(dockerfile)?.[1]).toBe(packageManager)
  })
})
