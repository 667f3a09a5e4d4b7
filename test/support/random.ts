/** Random choices that come again with the same seed. */

/** Uniform in [0, 1) (mulberry32), and what is drawn by it. */
export function randomOf(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    chance: (probability: number) => next() < probability,
    between: (least: number, most: number) => least + Math.floor(next() * (most - least + 1)),
    /** From 0 to `count` - 1. */
    below: (count: number) => Math.floor(next() * count),
    pick: <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!,
  }
}
