import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Exchange, Health } from '@restante/service/http'
import { DOCUMENT_POLICY, documentPage } from './document-page.ts'
import { HealthCheck } from './health-check.ts'
import { FILES, REFERENCE_INDEX } from './library/catalog.ts'
import { Library } from './library/library.ts'
import { type Installation, llmsText } from './library/summary.ts'
import { prefersHtml, prefersMarkdown } from './sending/accept.ts'
import { StaticFiles, sendFile } from './sending/static-files.ts'
import { SIGN_IN_PATHS, type SignInPlace, signInConfiguration } from './sign-in-configuration.ts'
import { startPage } from './start-page.ts'
import { VIEWER_ASSETS, VIEWER_PAGE, VIEWER_POLICY, VIEWER_START } from './viewer.ts'

export interface DocumentOptions extends SignInPlace {
  readonly openapiFile: string
  /** The folder of the documents of the repository. */
  readonly docsFolder: string
  readonly signUpOffered: boolean
  readonly capturedMailUrl: string | undefined
  readonly health: Health
}

const HTML = 'text/html; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'
const MARKDOWN = 'text/markdown; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'
const DOCS = '/docs/'

/** Paths of the documents at the root, other than the start page and those of sign-in. */
const ROOT_DOCUMENTS: ReadonlySet<string> = new Set(['/openapi.json', '/llms.txt', '/llms-full.txt', '/docs'])

/**
 * What is served without a key, from this installation alone: the first page, the API reference and its viewer, the guides
 * as HTML and as Markdown, the list of them for models, and where sign-in is.
 */
export class Documents {
  readonly #options: DocumentOptions
  readonly #installation: Installation
  readonly #library: Library
  readonly #signIn: string | undefined
  readonly #health: HealthCheck
  readonly #assets = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  readonly #files = new StaticFiles()

  constructor(options: DocumentOptions) {
    const { publicUrls, docsFolder, signUpOffered, health } = options
    const base = publicUrls[0]?.replace(/\/+$/, '') ?? ''
    this.#options = options
    this.#installation = { base, signUpOffered }
    this.#library = new Library({ folder: docsFolder, base })
    this.#signIn = signInConfiguration(options)
    this.#health = new HealthCheck(health)
  }

  /** Whether the path is reserved for documents, even if there is no document of that name. */
  matches({ path: requested, request }: Exchange): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    if (requested === '/') return prefersHtml(request.headers.accept)
    return ROOT_DOCUMENTS.has(requested) || requested.startsWith(DOCS) || SIGN_IN_PATHS.has(requested)
  }

  /** @returns whether the path was one of the documents. */
  async serve(exchange: Exchange): Promise<boolean> {
    const { path: requested } = exchange
    exchange.facts['operation'] = 'documents'
    if (requested === '/') return this.#sendStart(exchange)
    if (SIGN_IN_PATHS.has(requested)) {
      return this.#signIn !== undefined && (await this.#send(exchange, { 'content-type': JSON_TYPE }, this.#signIn))
    }
    if (requested === '/openapi.json') {
      return this.#send(exchange, { 'content-type': JSON_TYPE }, () => readFile(this.#options.openapiFile))
    }
    if (requested === '/llms.txt') return this.#send(exchange, { 'content-type': TEXT }, llmsText(this.#installation))
    if (requested === '/llms-full.txt') {
      return this.#send(exchange, { 'content-type': TEXT }, () => this.#library.joined())
    }
    return this.#sendBelowDocs(exchange, requested.slice(DOCS.length).replace(/\/$/, ''))
  }

  async #sendStart({ response }: Exchange): Promise<boolean> {
    const options = { ...this.#installation, capturedMailUrl: this.#options.capturedMailUrl }
    const { status, headers, body } = startPage(options, await this.#health.isHealthy())
    response.writeHead(status, { ...headers, vary: 'Accept' }).end(body)
    return true
  }

  async #sendBelowDocs(exchange: Exchange, name: string): Promise<boolean> {
    if (name.endsWith('.md')) return this.#sendMarkdown(exchange, name.slice(0, -'.md'.length), 'Accept-Encoding')
    if (name === 'start.js')
      return this.#send(exchange, { 'content-type': 'text/javascript; charset=utf-8' }, VIEWER_START)
    const asset = Object.hasOwn(VIEWER_ASSETS, name) ? VIEWER_ASSETS[name] : undefined
    if (asset !== undefined) {
      const headers = { 'content-type': asset, 'cache-control': 'public, max-age=3600' }
      return this.#send(exchange, headers, () => readFile(path.join(this.#assets, name)))
    }
    const file = Object.hasOwn(FILES, name) ? FILES[name] : undefined
    if (file !== undefined) return this.#send(exchange, { 'content-type': file }, () => this.#library.file(name))
    return this.#sendPage(exchange, name)
  }

  /** A page in the form that the client prefers. */
  #sendPage(exchange: Exchange, name: string): Promise<boolean> {
    const vary = 'Accept, Accept-Encoding'
    if (prefersMarkdown(exchange.request.headers.accept)) {
      return this.#sendMarkdown(exchange, name === '' ? REFERENCE_INDEX.name : name, vary)
    }
    const headers = { 'content-type': HTML, vary, 'x-content-type-options': 'nosniff' }
    if (name === '') return this.#send(exchange, { ...headers, 'content-security-policy': VIEWER_POLICY }, VIEWER_PAGE)
    return this.#send(exchange, { ...headers, 'content-security-policy': DOCUMENT_POLICY }, async () => {
      const document = await this.#library.read(name, 'html')
      return document === undefined ? undefined : documentPage(document)
    })
  }

  #sendMarkdown(exchange: Exchange, name: string, vary: string): Promise<boolean> {
    return this.#send(exchange, { 'content-type': MARKDOWN, vary }, async () => {
      return (await this.#library.read(name, 'markdown'))?.markdown
    })
  }

  /** @param content or how it is made. @returns false if there is none. */
  async #send(
    exchange: Exchange,
    headers: Readonly<Record<string, string>>,
    content: string | (() => Promise<Buffer | string | undefined>),
  ): Promise<boolean> {
    const make = typeof content === 'string' ? async () => content : content
    const file = await this.#files.get(`${headers['content-type']} ${exchange.path}`, make)
    if (file === undefined) return false
    sendFile(exchange, file, headers)
    return true
  }
}
