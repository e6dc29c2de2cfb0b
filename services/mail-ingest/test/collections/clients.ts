import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { glob, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Client, Package } from './packages.ts'

const run = promisify(execFile)
const CACHE = path.resolve(import.meta.dirname, '../../../../node_modules/.cache/mail-collections')

/** The programs that each client needs. */
export const PROGRAMS: Readonly<Record<Client, readonly string[]>> = {
  cargo: ['cargo', 'tar'],
  mvn: ['mvn', 'python3'],
  pip: ['python3', 'tar'],
  'apt-get': ['apt-get', 'tar'],
}

/** Each fetches the published archive of a package into an empty folder, with whatever else its client writes there. */
const FETCH: Readonly<Record<Client, (of: Package, folder: string) => Promise<string | undefined>>> = {
  async cargo({ name, version }, folder) {
    const manifest = `[package]\nname = "c"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n${name} = "=${version}"\n`
    await mkdir(path.join(folder, 'src'))
    await writeFile(path.join(folder, 'src/lib.rs'), '')
    await writeFile(path.join(folder, 'Cargo.toml'), manifest)
    await run('cargo', ['fetch', '--quiet'], { cwd: folder })
    const home = process.env['CARGO_HOME'] ?? path.join(homedir(), '.cargo')
    return only(path.join(home, `registry/cache/*/${name}-${version}.crate`))
  },
  async mvn({ name, version }, folder) {
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy'
    const artifact = `-Dartifact=${name}:${version}:jar:tests`
    await run('mvn', ['-q', '-B', goal, artifact, `-DoutputDirectory=${folder}`], { cwd: folder })
    return only(path.join(folder, '*.jar'))
  },
  async pip({ name, version }, folder) {
    await run('python3', ['-m', 'venv', path.join(folder, 'venv')])
    const words = ['download', '--quiet', '--no-deps', '--no-binary', ':all:', `${name}==${version}`]
    await run(path.join(folder, 'venv/bin/pip'), words, { cwd: folder })
    return only(path.join(folder, '*.tar.gz'))
  },
  async 'apt-get'({ name, version }, folder) {
    await mkdir(path.join(folder, 'lists/partial'), { recursive: true })
    await writeFile(path.join(folder, 'sources.list'), await sourcesOfDebian())
    const places = [`Dir::Etc::SourceList=${folder}/sources.list`, 'Dir::Etc::SourceParts=/dev/null']
    const options = [...places, `Dir::State::Lists=${folder}/lists`, 'APT::Sandbox::User=root'].flatMap((each) => [
      '-o',
      each,
    ])
    await run('apt-get', [...options, 'update', '-qq'], { cwd: folder })
    await run('apt-get', [...options, 'source', '-qq', '--download-only', '--tar-only', name], { cwd: folder })
    return only(path.join(folder, `${name}_${version}*.orig.tar.*z`))
  },
}

/** Lines of sources.list for the sources of the release whose packages this machine uses. */
async function sourcesOfDebian(): Promise<string> {
  const format = '$(ORIGIN) $(CREATED_BY) $(COMPONENT) $(REPO_URI) $(RELEASE)'
  const { stdout } = await run('apt-get', ['indextargets', '--format', format])
  const lines = [...stdout.matchAll(/^Debian Packages main (\S+) (\S+)$/gm)]
  return lines.map(([, uri, release]) => `deb-src ${uri} ${release} main\n`).join('')
}

async function only(pattern: string): Promise<string | undefined> {
  for await (const found of glob(pattern)) return found
  return undefined
}

/**
 * The folder with the unpacked archive of a package. It is fetched once, and kept among the caches of node_modules.
 * @throws Error when the registry no longer has it, or has another one than that with the known hash.
 */
export async function unpacked(of: Package): Promise<string> {
  const place = path.join(CACHE, `${of.client}-${of.name.replace(/\W/g, '-')}-${of.version}-${of.sha256.slice(0, 16)}`)
  if (existsSync(place)) return place
  const folder = await mkdtemp(path.join(tmpdir(), 'restante-package-'))
  try {
    const archive = await FETCH[of.client](of, folder)
    if (archive === undefined) throw new Error(`${of.client} fetched no archive of ${of.name} ${of.version}`)
    const sha256 = createHash('sha256')
      .update(await readFile(archive))
      .digest('hex')
    if (sha256 !== of.sha256) throw new Error(`${of.name} ${of.version} has the hash ${sha256}, not ${of.sha256}`)
    await mkdir(CACHE, { recursive: true })
    const content = await mkdtemp(path.join(CACHE, 'unpacking-'))
    if (of.client === 'mvn') await run('python3', ['-m', 'zipfile', '-e', archive, content])
    else await run('tar', ['-xf', archive, '-C', content, '--no-same-owner'])
    await rename(content, place)
    return place
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
