import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { assetPath, findAsset } from '../../src/pages/assets.ts'

const FOLDER = path.join(import.meta.dirname, '../../src/pages/assets')
const SCRIPTS = readdirSync(FOLDER).filter((name) => name.endsWith('.js'))

function parts(name: string): [string, string] {
  const [, , version = '', file = ''] = assetPath(name).split('/')
  return [version, file]
}

it('has a path for each file that pages load, under one version of all', () => {
  const versions = ['style.css', 'icon.svg', 'no-script.css', ...SCRIPTS].map((name) => parts(name)[0])
  expect(new Set(versions).size).toBe(1)
  expect(() => assetPath('missing.js')).toThrow('no asset missing.js')
})

it('keeps the file of another release out of caches', () => {
  expect(findAsset(...parts('waiting.js'))).toMatchObject({ immutable: true })
  expect(findAsset('AAAAAAAAAAAAAAAA', 'waiting.js')).toMatchObject({ immutable: false })
})

it.each(['tsconfig.json', '../assets.ts', '__proto__', ''])('serves no other file: %j', (name) => {
  expect(findAsset(parts('waiting.js')[0], name)).toBeUndefined()
})

it.each(SCRIPTS)('runs %s without eval, HTML from strings, or code of another origin', (name) => {
  const source = readFileSync(path.join(FOLDER, name), 'utf8')
  expect(source).not.toMatch(/\beval\b|\bFunction\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|https?:\/\//)
  for (const [, imported = ''] of source.matchAll(/^import .* from '(.*)'$/gm)) {
    expect(SCRIPTS).toContain(imported.replace(/^\.\//, ''))
  }
})
