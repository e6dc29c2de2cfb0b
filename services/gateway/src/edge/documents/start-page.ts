import { escapeHtml, type RenderedPage } from '@restante/service/pages'
import { GUIDES, type Page, REFERENCE_INDEX } from './library/catalog.ts'
import { type Installation, mcpConfiguration, signUpCommand } from './library/summary.ts'
import { PageRenderer } from './page.ts'

/** What the page says about the installation. */
export interface StartPageOptions extends Installation {
  /** Where captured mail is read, on an installation that delivers none. */
  readonly capturedMailUrl: string | undefined
}

const STYLE = `
main{max-width:40rem}
a{color:var(--main)}
h2{margin:1.75rem 0 .5rem;font-size:1.1rem;line-height:1.3}
ul{margin:0 0 1rem;padding:0;list-style:none}
ul:last-child{margin:0}
li{padding:.55rem 0;border-bottom:1px solid var(--line)}
li:last-child{border:0}
li a{display:inline-block;padding:.1rem 0;font-weight:600}
li span{display:block;color:var(--faint);font-size:.9rem}
code{font:.9em/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
pre{margin:0 0 1rem;padding:.8rem 1rem;border:1px solid var(--line);border-radius:.5rem;background:var(--back);white-space:pre-wrap}
.state{display:flex;align-items:center;gap:.6rem;font-weight:600}
.state::before{content:"";flex:none;width:.75rem;height:.75rem;border-radius:50%;background:var(--good)}
.state.bad::before{background:var(--bad);border-radius:0}
:root{--good:#1a7f37;--bad:#cf222e}
@media(prefers-color-scheme:dark){:root{--good:#4ac26b;--bad:#ff7b72}}
@media(forced-colors:active){.state::before{border:1px solid}}
`

const renderer = new PageRenderer({ style: STYLE, form: false })

/** The first page for people. @param isHealthy according to the readiness of this gateway. */
export function startPage(options: StartPageOptions, isHealthy: boolean): RenderedPage {
  return renderer.render({
    status: 200,
    title: 'Restante',
    head: '<link rel="alternate" type="text/plain" title="For models" href="/llms.txt">',
    content: `<p>E-mail inboxes for software agents. The API is at <code>${escapeHtml(options.base)}/v0</code>.</p>
${isHealthy ? '<p class="state" role="status">Healthy</p>' : '<p class="state bad" role="status">Some parts are not available</p>'}
${connection(options)}
<h2>Read</h2>
<ul>
${READING.map(entry).join('\n')}
</ul>${capturedMail(options)}`,
  })
}

function connection(options: StartPageOptions): string {
  const { base, signUpOffered } = options
  const key = signUpOffered
    ? `<p>An agent signs up by itself, with the address of its human, and gets an inbox and a key:</p>
<pre><code>${escapeHtml(signUpCommand(options))}</code></pre>`
    : '<p>The operator of this installation creates API keys.</p>'
  return `<h2>Connect an agent</h2>
${key}
<p>Its MCP server is at <code>${escapeHtml(base)}/mcp</code>. Paste this into the configuration of the client, with the key:</p>
<pre><code>${escapeHtml(mcpConfiguration(options, 2))}</code></pre>
<p>Or give a model this address to read: <a href="/llms.txt">${escapeHtml(base)}/llms.txt</a></p>`
}

interface Entry {
  readonly address: string
  readonly title: string
  readonly about: string
}

const READING: readonly Entry[] = [
  { address: '/docs', title: 'API explorer', about: 'every operation, to try in the browser' },
  pageEntry(REFERENCE_INDEX),
  ...GUIDES.map(pageEntry),
  { address: '/docs/errors', title: 'Errors', about: 'what each code means, and what to do' },
  { address: '/openapi.json', title: 'OpenAPI', about: 'the API as a document for programs' },
]

function pageEntry({ name, title, summary }: Page): Entry {
  return { address: `/docs/${name}`, title, about: summary }
}

function entry({ address, title, about }: Entry): string {
  return `<li><a href="${address}">${escapeHtml(title)}</a><span>${escapeHtml(about)}</span></li>`
}

function capturedMail({ capturedMailUrl }: StartPageOptions): string {
  if (capturedMailUrl === undefined) return ''
  const address = escapeHtml(capturedMailUrl)
  return `
<h2>Mail that was sent</h2>
<p>This installation delivers no mail to addresses elsewhere. It is captured, and codes of sign-ups are read there: <a href="${address}">${address}</a></p>`
}
