import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect as connectTls } from 'node:tls'
import { ConfigurationError } from '@restante/service/configuration'
import { configuration } from '../src/config.ts'
import { selfSigned } from '../src/smtp/protocol/certificate.ts'
import { configOf, openFixture } from './fixture.ts'

const valid = {
  PORT: '3001',
  DATABASE_URL: 'postgres://127.0.0.1/x',
  BLOB_STORE: 'directory:/tmp/x',
  GATEWAY_URL: 'http://127.0.0.1:3000',
}

const namesAt = (name: string) => [`postmaster@${name}.test`, `abuse@${name}.test`]

describe('the configuration of mail-ingest', () => {
  it('has defaults that follow from the domain', () => {
    expect(configOf(valid)).toMatchObject({
      returnPath: { domain: 'bounces.mail.test' },
      hostname: 'mx.mail.test',
      docsUrl: 'http://public.test/docs',
      roles: new Set(['smtp', 'pipeline', 'api']),
    })
  })

  it('names every wrong variable at once', () => {
    const wrong = {
      ...valid,
      DEFAULT_DOMAIN: 'mail.test',
      ROLES: 'smtp,imap',
      BLOB_STORE: 'somewhere',
      DNS_SERVERS: 'resolver.example',
      SMTP_TLS_CERT: '/tls.crt',
      LINK_SECRET: 'short',
    }
    const read = () => configuration.read(wrong)
    expect(read).toThrow(ConfigurationError)
    for (const name of ['ROLES', 'BLOB_STORE', 'DNS_SERVERS', 'LINK_SECRET', 'CALLER_KEY', 'MAIL_SEND_URL']) {
      expect(read).toThrow(new RegExp(`- ${name} `))
    }
  })

  it('reads the addresses of feedback loops, each with its providers', () => {
    const given = 'Fbl@Mail.test=feedback.one.test/ARF.two.test, arf@mail.test=two.test'
    expect(configOf({ ...valid, COMPLAINT_ADDRESSES: given }).complaintAddresses).toEqual(
      new Map([
        ['fbl@mail.test', new Set(['feedback.one.test', 'arf.two.test'])],
        ['arf@mail.test', new Set(['two.test'])],
      ]),
    )
    expect(configOf(valid).complaintAddresses.size).toBe(0)
  })

  it.each(['fbl@mail.test', 'fbl@mail.test=', 'fbl=one.test', 'a@b.test=one', 'a@b.test=x.test,A@b.test=y.test'])(
    'refuses %s as the addresses of feedback loops',
    (given) => {
      expect(() => configOf({ ...valid, COMPLAINT_ADDRESSES: given })).toThrow(/- COMPLAINT_ADDRESSES /)
    },
  )

  it.each(['', 'operator', 'Postmaster@Mail.test', 'abuse@mail.test', 'abuse@bounces.mail.test'])(
    'refuses %j as the address of the operator',
    (given) => {
      expect(() => configOf({ ...valid, OPERATOR_ADDRESS: given })).toThrow(/- OPERATOR_ADDRESS /)
    },
  )

  it('gives the operator the mail to postmaster and abuse of every shared domain', () => {
    const { operator, sharedDomains } = configOf({ ...valid, SHARED_DOMAINS: 'Second.test, third.test' })
    expect([...sharedDomains]).toEqual(['mail.test', 'second.test', 'third.test'])
    expect([...operator.names].toSorted()).toEqual(
      ['postmaster', ...['mail', 'second', 'third', 'bounces.mail'].flatMap(namesAt)].toSorted(),
    )
    expect(operator.isInside).toBe(false)
    const reads = (address: string) => configOf({ ...valid, OPERATOR_ADDRESS: address, SHARED_DOMAINS: 'second.test' })
    expect(reads('ops@second.test').operator.isInside).toBe(true)
    expect(() => reads('abuse@second.test')).toThrow(/- OPERATOR_ADDRESS /)
  })

  it('refuses an address of the operator among those of feedback loops', () => {
    expect(() => configOf({ ...valid, COMPLAINT_ADDRESSES: 'Abuse@mail.test=two.test' })).toThrow(
      /- COMPLAINT_ADDRESSES must not name abuse@mail\.test/,
    )
  })

  it('requires certificate and key together', () => {
    expect(() => configOf({ ...valid, SMTP_TLS_CERT: '/tls.crt' })).toThrow(/- SMTP_TLS_KEY /)
  })
})

describe('the TLS certificate', () => {
  it('that is made at start names the host and fits its key', async () => {
    const { cert, key } = await selfSigned('mx.mail.test')
    const certificate = new X509Certificate(cert)
    expect(certificate.subjectAltName).toBe('DNS:mx.mail.test')
    expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true)
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now() + 365 * 86_400_000)
  })

  it('from configured files is the one that STARTTLS presents', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'certificate-'))
    const { cert, key } = await selfSigned('mail.operator.test')
    const files = { cert: path.join(folder, 'tls.crt'), key: path.join(folder, 'tls.key') }
    await Promise.all([writeFile(files.cert, cert), writeFile(files.key, key)])
    const fixture = await openFixture({ SMTP_TLS_CERT: files.cert, SMTP_TLS_KEY: files.key })
    expect(await presented(fixture.smtpPort)).toBe('CN=mail.operator.test')
    await fixture.stop()
    await rm(folder, { recursive: true })
  })
})

async function presented(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const said = async (text: string) => {
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) if (String(chunk).includes(text)) return
  }
  await said('220')
  socket.write('EHLO client.test\r\n')
  await said('STARTTLS')
  socket.write('STARTTLS\r\n')
  await said('220')
  const secure = connectTls({ socket, rejectUnauthorized: false })
  await new Promise((resolve) => secure.once('secureConnect', resolve))
  const { raw } = secure.getPeerCertificate()
  secure.destroy()
  return new X509Certificate(raw).subject
}
