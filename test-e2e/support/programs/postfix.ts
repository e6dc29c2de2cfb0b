import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { waitFor } from '@restante/testkit'
import type { Endpoints } from '../../stack/endpoints.ts'
import { peerDomain, peerHost } from '../../stack/names.ts'
import { output } from './programs.ts'

/** A separate Postfix: the MX host of its domain, with mailboxes in a folder, and a relay for mail to the system. */
export class Postfix {
  readonly domain: string
  readonly host: string
  readonly port: number
  readonly #folder: string

  private constructor(folder: string, host: string, domain: string, port: number) {
    this.#folder = folder
    this.host = host
    this.domain = domain
    this.port = port
  }

  /** @param more lines of main.cf, which override those of every test. */
  static async start(endpoints: Endpoints, a: number, b: number, more: readonly string[] = []): Promise<Postfix> {
    const folder = await mkdtemp(path.join(tmpdir(), 'restante-postfix-'))
    const postfix = new Postfix(folder, peerHost(a, b), peerDomain(a, b), endpoints.mxPort)
    await postfix.#configure(endpoints, more)
    await output('postfix', ['-c', folder, 'start'])
    return postfix
  }

  async stop(): Promise<void> {
    await output('postfix', ['-c', this.#folder, 'stop'])
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** The mail with a given text in a mailbox of its domain. */
  mail(user: string, text: string): Promise<string> {
    const mailbox = path.join(this.#folder, 'mail', user, 'new')
    return waitFor(
      async () => {
        const files = await readdir(mailbox)
        const mails = await Promise.all(files.map((file) => readFile(path.join(mailbox, file), 'utf8')))
        return mails.find((mail) => mail.includes(text))
      },
      { what: `a mail to ${user}@${this.domain}` },
    )
  }

  /** How many mails with a given text are in a mailbox of its domain. */
  async count(user: string, text: string): Promise<number> {
    const mailbox = path.join(this.#folder, 'mail', user, 'new')
    const mails = await Promise.all((await readdir(mailbox)).map((file) => readFile(path.join(mailbox, file), 'utf8')))
    return mails.filter((mail) => mail.includes(text)).length
  }

  /** Kills the processes that hold its sessions, each in the middle of what it does; the next session gets a new one. */
  async killSessions(): Promise<void> {
    const master = (await readFile(path.join(this.#folder, 'queue/pid/master.pid'), 'utf8')).trim()
    const children = (await readFile(`/proc/${master}/task/${master}/children`, 'utf8')).trim().split(' ')
    for (const pid of children) {
      const name = await readFile(`/proc/${pid}/comm`, 'utf8')
      if (name.trim() === 'smtpd') process.kill(Number(pid), 'SIGKILL')
    }
  }

  /** Its log: which server accepted or refused which mail. */
  log(): Promise<string> {
    return readFile(path.join(this.#folder, 'log/mail.log'), 'utf8')
  }

  async #configure(endpoints: Endpoints, more: readonly string[]): Promise<void> {
    const owner = async (flag: string, user: string) => (await output('id', [flag, user])).trim()
    const [uid, gid] = [await owner('-u', 'postfix'), await owner('-g', 'postfix')]
    for (const name of ['queue', 'data', 'log', 'mail']) await mkdir(path.join(this.#folder, name))
    await output('chmod', ['755', this.#folder])
    await output('chown', [`${uid}:${gid}`, path.join(this.#folder, 'data'), path.join(this.#folder, 'mail')])
    const main = settings(this, endpoints, { folder: this.#folder, uid, gid })
    await writeFile(path.join(this.#folder, 'main.cf'), `${[main, ...more].join('\n')}\n`)
    await writeFile(path.join(this.#folder, 'master.cf'), processes(this.host, this.port))
  }
}

function settings(
  { host, domain }: Postfix,
  endpoints: Endpoints,
  own: { folder: string; uid: string; gid: string },
): string {
  return `
compatibility_level = 3.6
queue_directory = ${own.folder}/queue
data_directory = ${own.folder}/data
maillog_file = ${own.folder}/log/mail.log
queue_run_delay = 5s
service_throttle_time = 1s
minimal_backoff_time = 5s
maillog_file_prefixes = ${own.folder}
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = mx.${domain}
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = loopback-only
inet_protocols = ipv4
smtp_bind_address = ${host}
smtp_tls_security_level = encrypt
smtpd_tls_security_level = none
transport_maps = inline:{ ${endpoints.domain}=smtp:[127.0.0.1]:${endpoints.smtpPort} }
relay_domains = ${endpoints.domain}
virtual_mailbox_domains = ${domain}
virtual_mailbox_base = ${own.folder}/mail
virtual_mailbox_maps = inline:{ human@${domain}=human/ }
virtual_uid_maps = static:${own.uid}
virtual_gid_maps = static:${own.gid}
virtual_minimum_uid = 1
alias_maps =
local_recipient_maps =
notify_classes =
`
}

/** Without chroot, because a private folder lacks the files for it. Postfix writes the log itself. */
function processes(host: string, port: number): string {
  return `
${host}:${port} inet n - n - - smtpd
cleanup   unix n - n - 0 cleanup
qmgr      unix n - n 300 1 qmgr
rewrite   unix - - n - - trivial-rewrite
bounce    unix - - n - 0 bounce
defer     unix - - n - 0 bounce
trace     unix - - n - 0 bounce
smtp      unix - - n - - smtp
relay     unix - - n - - smtp
error     unix - - n - - error
retry     unix - - n - - error
virtual   unix - n n - - virtual
anvil     unix - - n - 1 anvil
scache    unix - - n - 1 scache
tlsmgr    unix - - n 1000? 1 tlsmgr
proxymap  unix - - n - - proxymap
postlog   unix-dgram n - n - 1 postlogd
`
}
