/** The quality that a header `Accept` gives to a media type by its name, from 0 to 1; 0 where it is not named. */
export function namedQuality(accept: string | undefined, type: string): number {
  for (const range of (accept ?? '').split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    if (name !== type) continue
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? 1)
    return Number.isNaN(quality) ? 0 : quality
  }
  return 0
}

/** Whether a client asks for HTML rather than for JSON, as browsers do. */
export function prefersHtml(accept: string | undefined): boolean {
  return namedQuality(accept, 'text/html') > namedQuality(accept, 'application/json')
}

/** Whether a client asks for Markdown, as programs of models do. Where it is as welcome as HTML, it is what they can use best. */
export function prefersMarkdown(accept: string | undefined): boolean {
  const quality = namedQuality(accept, 'text/markdown')
  return quality > 0 && quality >= namedQuality(accept, 'text/html')
}
