import { readFile } from 'node:fs/promises'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')
const dockerfile = await readFile(path.join(root, 'deploy/image/Dockerfile'), 'utf8')
const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))
/** Each stage from its FROM to the next. */
const stages = dockerfile.split(/^(?=FROM )/m).slice(1)

describe('the container image', () => {
  it('has one base image, by default the exact tag of the tested Node, which a release can pin by digest', () => {
    expect(/^ARG NODE_IMAGE=(.+)$/m.exec(dockerfile)?.[1]).toBe(`node:${manifest.devDependencies.node}-slim`)
    const names = stages.map((stage) => /^FROM \S+ AS (\S+)/.exec(stage)?.[1])
    const bases = stages.map((stage) => /^FROM (\S+)/.exec(stage)?.[1]).filter((base) => !names.includes(base))
    expect(new Set(bases)).toEqual(new Set(['${' + 'NODE_IMAGE}']))
  })

  it('installs with the exact pnpm that the repository names', () => {
    expect(/ (pnpm@\S+)$/m.exec(dockerfile)?.[1]).toBe(manifest.packageManager)
  })

  it('fetches packages, and makes the layers that services share, before a service is named', () => {
    const shared = stages.filter((stage) => / AS (packages|manifests|common-packages|common-code)\n/.test(stage))
    expect(shared).toHaveLength(4)
    for (const stage of shared) expect(stage).not.toContain('SERVICE')
  })

  it('runs as a user that Kubernetes can tell from root, by its number', () => {
    expect(/^USER (.+)$/m.exec(stages.at(-1) ?? '')?.[1]).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  })
})
