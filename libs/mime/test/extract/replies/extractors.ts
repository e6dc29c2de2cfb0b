import { createRequire } from 'node:module'
import EmailReplyParser from 'email-reply-parser'
import { JSDOM } from 'jsdom'
import { extractReply, extractReplyHtml } from '../../../src/index.ts'
import type { Extract } from './score.ts'

const require = createRequire(import.meta.url)
/** Both are CommonJS; their typings, where they have any, do not fit how Node imports them. */
const nodeEmailReplyParser: (text: string, visibleTextOnly: true) => string = require('node-email-reply-parser')
const planer: { extractFrom(body: string, type: string, dom?: Document): string } = require('planer')

export const ours: Extract = (body, kind) => (kind === 'text' ? extractReply(body) : extractReplyHtml(body))

/** The extraction that is tested, and the packages that it is compared with, in the way that their READMEs show. */
export const EXTRACTORS: readonly { readonly name: string; readonly version: string; readonly extract: Extract }[] = [
  { name: 'Restante', version: '', extract: ours },
  {
    ...packageOf('email-reply-parser'),
    extract: (body, kind) => (kind === 'text' ? new EmailReplyParser().read(body).getVisibleText() : undefined),
  },
  {
    ...packageOf('node-email-reply-parser'),
    extract: (body, kind) => (kind === 'text' ? nodeEmailReplyParser(body, true) : undefined),
  },
  {
    ...packageOf('planer'),
    extract: (body, kind) =>
      kind === 'text'
        ? planer.extractFrom(body, 'text/plain')
        : planer.extractFrom(body, 'text/html', new JSDOM().window.document),
  },
]

/** Its version as this package pins it. */
function packageOf(name: string): { name: string; version: string } {
  const { devDependencies }: { devDependencies: Record<string, string> } = require('../../../package.json')
  return { name, version: devDependencies[name] ?? '' }
}
