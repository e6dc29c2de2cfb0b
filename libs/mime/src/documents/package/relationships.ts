import { posix } from 'node:path'
import { localName, readXml } from './xml.ts'
import type { ZipPackage } from './zip-package.ts'

/** A part of the same package that another part refers to (ECMA-376 part 2, 6.5). */
export interface Relationship {
  readonly id: string
  /** The last segment of its type: `officeDocument`, `slide`, `worksheet`. */
  readonly type: string
  /** Name of the part in the package. */
  readonly part: string
}

/**
 * What a part refers to inside its package, in the order of the file. What lies outside, such as a remote template, is
 * left out.
 * @param part its name, or '' for the package itself
 */
export async function relationshipsOf(zip: ZipPackage, part: string, depth: number): Promise<Relationship[]> {
  const folder = posix.dirname(part)
  const found: Relationship[] = []
  const visitor = {
    open(
      name: string,
      { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode }: Record<string, string>,
    ) {
      if (localName(name) !== 'Relationship' || mode === 'External') return
      const resolved = target.startsWith('/') ? target : posix.join(folder, target)
      found.push({ id, type: type.slice(type.lastIndexOf('/') + 1), part: resolved.replace(/^\//, '') })
    },
  }
  await readXml(zip.read(posix.join(folder, '_rels', `${posix.basename(part)}.rels`)), visitor, depth)
  return found
}
