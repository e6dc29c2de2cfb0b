import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { STORING_SERVICES, type StoringName } from '@restante/contracts/vocabulary'
import { run } from '@restante/local/processes.ts'
import type { System } from '../../stack/system.ts'
import { examplesIn } from '../../support/fenced.ts'

const PAGE = 'docs/backup.md'

/**
 * What the page expects around its commands: `url_of` names the database of a service, and the object store is the folder
 * that services keep blobs in. As S3 does, the copy takes what is there, whatever is written or deleted in the meantime.
 */
const AROUND = `
url_of() { local name=URL_\${1//-/_}; echo "\${!name}"; }
aws() {
  local from=\${3/#s3:\\/\\/mail\\/restante/$BLOBS} to=\${4/#s3:\\/\\/mail\\/restante/$BLOBS}
  mkdir -p "$to"
  # 1: a file was changed or deleted while it was read.
  tar -C "$from" -cf - . 2> /dev/null | tar -C "$to" -xf - || [ $? -eq 1 ]
}
`

/** The commands of the page on backups, as they are printed there, run in a folder for the backup. */
export class BackupPage {
  readonly #folder: string
  readonly #environment: NodeJS.ProcessEnv

  private constructor(folder: string, environment: NodeJS.ProcessEnv) {
    this.#folder = folder
    this.#environment = environment
  }

  static async of({ endpoints: { databases }, blobs }: System, folder: string): Promise<BackupPage> {
    await mkdir(folder, { recursive: true })
    const urls = STORING_SERVICES.map((name) => [`URL_${name.replaceAll('-', '_')}`, databases[name]])
    const environment = { ...process.env, ...Object.fromEntries(urls), BLOBS: blobs }
    const variables = {
      MAIL_SEND_DATABASE_URL: databases['mail-send'],
      MAIL_INGEST_DATABASE_URL: databases['mail-ingest'],
    }
    return new BackupPage(folder, { ...environment, ...variables })
  }

  /** Takes a set of dumps and a copy of the object store. @returns what the page has written into `taken-at`. */
  async back(): Promise<Date> {
    await this.#run('pg_dump')
    return new Date((await readFile(path.join(this.#folder, 'taken-at'), 'utf8')).trim())
  }

  /** Puts the databases of these services back, and the copy of the object store. */
  restore(services: readonly StoringName[]): Promise<void> {
    return this.#run('pg_restore', { restored: services.join(' ') })
  }

  /** Keeps all mail of mail-send back. */
  hold(): Promise<void> {
    return this.#run('delivery_holds')
  }

  /** Forgets names that a restored mail-ingest had reserved. */
  forgetReservations(): Promise<void> {
    return this.#run('raw_mails')
  }

  /** Runs the one block of the page that contains these words. */
  async #run(words: string, more: NodeJS.ProcessEnv = {}): Promise<void> {
    const blocks = (await examplesIn(PAGE)).filter(
      ({ language, code }) => language === 'console' && code.includes(words),
    )
    const [block] = blocks
    if (block === undefined || blocks.length > 1) throw new Error(`${PAGE} has ${blocks.length} blocks with ${words}`)
    const commands = block.code.replaceAll(/^[$>] /gm, '')
    await run('bash', ['-euo', 'pipefail', '-c', `${AROUND}${commands}`], {
      cwd: this.#folder,
      env: { ...this.#environment, ...more },
    })
  }
}
