import { rm } from 'node:fs/promises'
import path from 'node:path'
import { installedPackages } from './installed.ts'
import { unneededLibs } from './unneeded-libs.ts'

/** `drop-libs.ts <folder> <package>`: deletes the libs that a package of ours, named by its folder, does not depend on. */

const [folder, entry] = process.argv.slice(2)
if (folder === undefined || entry === undefined) throw new Error('usage: drop-libs.ts <folder> <package>')
const packages = await installedPackages(folder)
for (const lib of unneededLibs(packages, path.resolve(folder, entry))) await rm(lib, { recursive: true })
