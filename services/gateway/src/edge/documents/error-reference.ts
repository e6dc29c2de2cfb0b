import { ERRORS, type ErrorDefinition } from '@restante/contracts/vocabulary'
import { escapeHtml } from '@restante/service/pages'

/** The page that the `docs` member of every error links to: one entry per code, from the table of codes itself. */
export function errorReference(): string {
  const entries = Object.entries<ErrorDefinition>(ERRORS).map(([code, definition]) => entry(code, definition))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}:target{background:#fff3bf}</style>
</head>
<body>
<h1>Errors</h1>
<p>Branch on <code>code</code>. <code>fix</code>, where present, says what to do next.</p>
${entries.join('\n')}
</body>
</html>
`
}

function entry(code: string, { status, message, fix }: ErrorDefinition): string {
  const remedy = fix === undefined ? '' : `<p>${escapeHtml(fix)}</p>`
  return `<h2 id="${code}"><code>${code}</code> (${status})</h2>\n<p>${escapeHtml(message)}.</p>${remedy}`
}
