import { PeerLimit } from '@restante/service/connections'
import { growthOf, MOST_GROWTH } from '@restante/testkit'
import type { MailContent } from '../../src/content/mail-content.ts'
import { mergedHeaders } from '../../src/pipeline/conclusion/merged-headers.ts'
import { traceLines } from '../../src/pipeline/conclusion/trace-lines.ts'
import { SPAM_THRESHOLD, spamScore } from '../../src/pipeline/examination/spam-rules.ts'

const mail = (more: Partial<MailContent>): MailContent => ({
  from: 'Ann <a@x.test>',
  author: 'a@x.test',
  to: [],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: 'Hello',
  messageId: '<m@x>',
  inReplyTo: null,
  answeredIds: [],
  references: [],
  date: new Date(),
  headers: {},
  text: 'Hi',
  html: null,
  extractedText: 'Hi',
  extractedHtml: null,
  searchText: null,
  preview: 'Hi',
  attachments: [],
  digest: 'd',
  parsed: true,
  ...more,
})

describe('spam rules', () => {
  const attachment = (filename: string) => ({
    attachment_id: 'a',
    start: 0,
    end: 1,
    encoding: 'none' as const,
    size: 1,
    filename,
    content_type: 'x/y',
  })

  it.each([
    ['an ordinary mail', mail({})],
    ['a shouting subject', mail({ subject: 'VERY IMPORTANT MEETING' })],
    ['a single phrase', mail({ text: 'You have won our respect' })],
    ['a program for a colleague', mail({ attachments: [attachment('setup.exe')] })],
  ])('let %s pass', (_name, content) => {
    expect(spamScore(content, true).score).toBeLessThan(SPAM_THRESHOLD)
  })

  it.each([
    ['the test string', mail({ text: 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X' })],
    [
      'the test string in html beside a blank text',
      mail({ text: '\r\n', html: '<p>XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X</p>' }),
    ],
    ['several phrases', mail({ subject: 'You have won', text: 'claim your prize, million dollars' })],
    [
      'a program from somebody who poses',
      mail({ from: '"bank@bank.test" <x@evil.test>', attachments: [attachment('a.pdf.scr')] }),
    ],
  ])('catch %s', (_name, content) => {
    expect(spamScore(content, false).score).toBeGreaterThanOrEqual(SPAM_THRESHOLD)
  })
})

describe('spam rules', () => {
  it.each(['<style>', '<', '<img ', '<style', '&nbsp;', '</script', '@', 'a@'])(
    'are not held up by fifty kilobytes of %j',
    (unit) => {
      const content = (size: number) => {
        const hostile = unit.repeat(size / unit.length - 10)
        const from = hostile.slice(0, 500)
        return mail({ html: `<img>${hostile}`, text: null, from, subject: hostile.slice(0, 4_000) })
      }
      expect(growthOf(50_000, content, (each) => spamScore(each, false))).toBeLessThan(MOST_GROWTH)
    },
  )

  it('notice a mail that is an image and nothing else', () => {
    const only = (html: string) => spamScore(mail({ html, text: null }), true).rules.includes('image_only')
    expect(
      only('<html><style>p { color: red; margin: 0 }</style><a href="http://x.test"><img src="x.png"></a>&nbsp;'),
    ).toBe(true)
    expect(only('<p>Here is the picture that you asked for.</p><img src="x.png">')).toBe(false)
  })
})

describe('trace headers', () => {
  const mail = {
    id: 'id',
    leaseId: 'l',
    target: { kind: 'report' as const, deliveryId: 'd' },
    recipient: 'desk@y.test',
    blob: 'b',
    size: 1,
    receivedAt: new Date('2026-11-20T10:00:00Z'),
    attempts: 1,
    slow: false,
    overdue: false,
    lane: 'lane',
    orphaned: false,
    listed: false,
  }

  it('cannot be broken by what a peer says', () => {
    const envelope = {
      via: 'smtp' as const,
      mail_from: 'a\r\nX: 1@x',
      peer: 'fd00::1',
      helo: 'h) (\nX',
      protocol: 'ESMTP',
      smtputf8: false,
    }
    const trace = traceLines({ ...mail, envelope }, 'mx.y.test', 'Authentication-Results: mx.y.test; none\r\n')
    expect(trace).toBe(
      'Return-Path: <a??X: 1@x>\r\nDelivered-To: desk@y.test\r\nAuthentication-Results: mx.y.test; none\r\n' +
        'Received: from h????X ([IPv6:fd00::1])\r\n\tby mx.y.test with ESMTP id id\r\n' +
        '\tfor <desk@y.test>; Fri, 20 Nov 2026 10:00:00 +0000\r\n',
    )
  })

  it('come first among the headers, and only ours are called results of authentication', () => {
    const ours = { Received: 'ours', 'Authentication-Results': 'mx.y.test; none' }
    const theirs = {
      received: 'theirs',
      'authentication-results': '(x) MX.y.test/1; dmarc=pass\nother.test; spf=pass',
      'Received-SPF': 'pass',
      'ARC-Authentication-Results': 'i=1; mx.y.test; dmarc=pass',
      Subject: 's',
    }
    expect(mergedHeaders(ours, theirs)).toEqual({
      Received: 'ours\ntheirs',
      'Authentication-Results': 'mx.y.test; none',
      'X-Original-authentication-results': '(x) MX.y.test/1; dmarc=pass\nother.test; spf=pass',
      'X-Original-Received-SPF': 'pass',
      'X-Original-ARC-Authentication-Results': 'i=1; mx.y.test; dmarc=pass',
      Subject: 's',
    })
  })
})

describe('connections of one peer', () => {
  it('are counted per IPv4 address and per IPv6 /64', () => {
    const peers = new PeerLimit(1)
    expect(peers.enter('192.0.2.1')).toBe(true)
    expect(peers.enter('192.0.2.1')).toBe(false)
    expect(peers.enter('192.0.2.2')).toBe(true)
    expect(peers.enter('2001:db8:1:2::1')).toBe(true)
    expect(peers.enter('2001:db8:1:2:ffff::9')).toBe(false)
    expect(peers.enter('2001:db8:1:3::1')).toBe(true)
    peers.leave('2001:db8:1:2::1')
    expect(peers.enter('2001:db8:1:2:a:b:c:d')).toBe(true)
  })
})
