/** Requests in a window that rolls, told from the moments at which they were admitted. */

/** One request as its caller saw it: it was decided between `sent` and `answered`. */
export interface Seen {
  sent: number
  answered: number
  status: number
}

/** The most of `stamps` in any window that begins after one of them leaves. */
export function peak(stamps: readonly number[], windowMs: number): number {
  const sorted = stamps.toSorted((a, b) => a - b)
  let [most, first] = [0, 0]
  for (const [n, at] of sorted.entries()) {
    while (sorted[first]! <= at - windowMs) first++
    most = Math.max(most, n - first + 1)
  }
  return most
}

/** Whether the window was full at some moment while the request was under way, by the stamps of what was admitted. */
export function wasFull(
  sorted: readonly number[],
  { sent, answered }: Pick<Seen, 'sent' | 'answered'>,
  { limit, windowMs }: { limit: number; windowMs: number },
): boolean {
  const used = (at: number) => sorted.filter((stamp) => stamp <= at && stamp > at - windowMs).length
  // Between two stamps a window only empties.
  const moments = [sent - 1, ...sorted.filter((stamp) => stamp >= sent - 1 && stamp <= answered + 1)]
  return moments.some((at) => used(at) >= limit)
}
