import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { ERRORS } from '@restante/contracts/vocabulary'
import { ERROR_REFERENCE, FILES, GUIDES, PAGES, type Page } from './catalog.ts'
import { redirectLinks } from './links.ts'

/** Where the examples of the documents have the API, which is where the local stack has it. */
const EXAMPLE_HOST = '127.0.0.1:3000'
/** The comment in generated documents is for those who would edit them. */
const NOTICE = /^<!-- Generated .*-->\n\n/m

/** A page with its text. */
export interface Document {
  readonly page: Page
  readonly markdown: string
}

/** Which links a document has: to the pages for browsers, or to their Markdown, by complete addresses. */
export type LinkStyle = 'html' | 'markdown'

/** The documents of the repository, as this installation serves them: with its address in links and examples. */
export class Library {
  readonly #folder: string
  readonly #base: string
  readonly #pages = new Map(PAGES.map((page) => [page.name, page]))
  readonly #names = new Map(PAGES.map(({ file, name }) => [file, name]))

  /** @param base URL of the API, without a slash at its end. */
  constructor({ folder, base }: { readonly folder: string; readonly base: string }) {
    this.#folder = folder
    this.#base = base
  }

  /** The page of a name, or the section of one error code for `errors/<code>`. Undefined: there is none. */
  async read(name: string, links: LinkStyle): Promise<Document | undefined> {
    const page = this.#pages.get(name)
    if (page !== undefined) return { page, markdown: await this.#text(page, links) }
    const [parent, code = '', ...rest] = name.split('/')
    if (parent !== ERROR_REFERENCE.name || rest.length > 0 || !Object.hasOwn(ERRORS, code)) return undefined
    const section = sectionOf(await this.#text(ERROR_REFERENCE, links), code)
    if (section === undefined) return undefined
    return { page: { ...ERROR_REFERENCE, name, title: code }, markdown: `# ${code}\n\n${section}` }
  }

  /** Guides that somebody who builds an agent reads, one after the other. */
  async joined(): Promise<string> {
    const guides = GUIDES.filter(({ optional }) => optional !== true)
    return (await Promise.all(guides.map((page) => this.#text(page, 'markdown')))).join('\n')
  }

  /** The content of a file that pages refer to. */
  file(name: string): Promise<Buffer> {
    return readFile(path.join(this.#folder, name))
  }

  async #text({ file }: Page, links: LinkStyle): Promise<string> {
    const text = (await readFile(path.join(this.#folder, file), 'utf8')).replace(NOTICE, '')
    return this.#atHome(redirectLinks(text, file, (target) => this.#addressOf(target, links)))
  }

  #addressOf(file: string, links: LinkStyle): string | undefined {
    const root = links === 'html' ? '' : this.#base
    if (file === 'api/openapi.json') return `${root}/openapi.json`
    if (Object.hasOwn(FILES, file)) return `${root}/docs/${file}`
    const name = this.#names.get(file)
    return name === undefined ? undefined : `${root}/docs/${name}${links === 'html' ? '' : '.md'}`
  }

  #atHome(text: string): string {
    return text
      .replaceAll(`http://${EXAMPLE_HOST}`, this.#base)
      .replaceAll(`ws://${EXAMPLE_HOST}`, this.#base.replace(/^http/, 'ws'))
  }
}

/** What a section of the second level holds, without its heading. */
function sectionOf(markdown: string, code: string): string | undefined {
  const [, ...sections] = markdown.split(/^## /m)
  const heading = `\`${code}\`\n\n`
  return sections.find((section) => section.startsWith(heading))?.slice(heading.length)
}
