import { escapeHtml } from '@restante/service/pages'
import { htmlOf } from './library/html.ts'
import type { Document } from './library/library.ts'
import { PageRenderer } from './page.ts'

const STYLE = `
body{display:block;padding:1rem}
main{max-width:52rem;margin:0 auto;padding:1.25rem 1.5rem 2.5rem}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0 0 1.5rem;padding:0 0 .75rem;border-bottom:1px solid var(--line);font-size:.95rem}
nav a{padding:.25rem 0}
a{color:var(--main)}
h1{font-size:clamp(1.4rem,6vw,1.9rem);overflow-wrap:anywhere}
h2{margin:2.5rem 0 .75rem;font-size:1.4rem;line-height:1.3;overflow-wrap:anywhere}
h3{margin:2rem 0 .5rem;font-size:1.15rem;line-height:1.3;overflow-wrap:anywhere}
:target{scroll-margin-top:1rem;text-decoration:underline;text-decoration-color:var(--main);text-underline-offset:.2em}
ul,ol{margin:0 0 1rem;padding:0 0 0 1.4rem}
li{margin:0 0 .4rem;overflow-wrap:anywhere}
img{display:block;max-width:100%;height:auto;border:1px solid var(--line);border-radius:.5rem}
code{padding:.1em .3em;border-radius:.25rem;background:var(--back);font:.9em/1.5 ui-monospace,monospace}
pre{margin:0 0 1rem;padding:.9rem 1rem;overflow-x:auto;border:1px solid var(--line);border-radius:.5rem;background:var(--back)}
pre code{padding:0;background:none;font-size:.85rem}
.wide{margin:0 0 1rem;overflow-x:auto}
table{border-collapse:collapse;font-size:.92rem}
th,td{padding:.45rem .7rem .45rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
td{min-width:4.5rem;overflow-wrap:break-word}
td:last-child{min-width:12rem}
@media(max-width:30rem){body{padding:.5rem}main{padding:.75rem 1rem 2rem}}
`

const renderer = new PageRenderer({ style: STYLE, form: false, images: true })

/** The policy of the pages of documents. */
export const DOCUMENT_POLICY = renderer.policy

const TITLE = /^# (.+)\n/

/** A document as a page, with the way back, and to its Markdown. */
export function documentPage({ page, markdown }: Document): string {
  const twin = `/docs/${page.name}.md`
  const title = escapeHtml(TITLE.exec(markdown)?.[1] ?? page.title)
  return renderer.document({
    title,
    content: htmlOf(markdown.replace(TITLE, '')),
    head: `<link rel="alternate" type="text/markdown" href="${twin}">`,
    above: `<nav aria-label="Pages"><a href="/">Start</a><a href="/docs/api">API</a><a href="/docs/errors">Errors</a><a href="${twin}">Markdown</a></nav>`,
  })
}
