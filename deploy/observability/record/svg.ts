/** Text of an SVG, with its special characters escaped. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

interface TextOptions {
  readonly x: number
  readonly y: number
  readonly size?: number
  readonly fill?: string
  readonly anchor?: 'start' | 'middle' | 'end'
}

export function textAt(text: string, { x, y, size = 12, fill = '#1f2328', anchor = 'start' }: TextOptions): string {
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}" text-anchor="${anchor}">${escaped(text)}</text>`
}

interface PictureOptions {
  /** Read aloud where the picture cannot be seen. */
  readonly title: string
  readonly width: number
  readonly height: number
}

/** A picture on white, so that it can be read on any page. */
export function picture({ title, width, height }: PictureOptions, parts: readonly string[]): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">`
  const name = `<title>${escaped(title)}</title>`
  return `${[head, name, `<rect width="${width}" height="${height}" fill="#ffffff"/>`, ...parts, '</svg>'].join('\n')}\n`
}
