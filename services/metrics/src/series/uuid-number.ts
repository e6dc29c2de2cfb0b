/** The UUID of a number, in the order of the numbers. */
export function uuidOf(number: bigint): string {
  const digits = number.toString(16).padStart(32, '0')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The number of a UUID. */
export function numberOf(uuid: string): bigint {
  return BigInt(`0x${uuid.replaceAll('-', '')}`)
}
