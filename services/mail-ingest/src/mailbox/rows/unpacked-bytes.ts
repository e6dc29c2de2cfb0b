/**
 * About how many bytes values have, which PostgreSQL knows without reading them: many addresses or attachments are compressed
 * to a sixteenth.
 */
export function unpackedBytes(...columns: readonly string[]): string {
  const bytes = (column: string) =>
    `coalesce(pg_column_size(${column}) * case when pg_column_compression(${column}) is null then 1 else 16 end, 0)`
  return columns.map(bytes).join(' + ')
}
