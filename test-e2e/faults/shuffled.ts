/** The entries in an order that depends on the seed alone (Fisher-Yates over a linear congruential generator). */
export function shuffled<T>(entries: readonly T[], seed: number): T[] {
  const order = [...entries]
  let state = seed >>> 0
  for (let last = order.length - 1; last > 0; last--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const other = Math.floor((state / 2 ** 32) * (last + 1))
    const [a, b] = [order[last], order[other]]
    if (a !== undefined && b !== undefined) [order[last], order[other]] = [b, a]
  }
  return order
}
