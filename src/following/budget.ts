/** How many calls one round of following may cost the RPC node. */

export interface Budget {
  /** Takes one call; false where none is left. */
  take(): boolean
  readonly left: number
}

export function createBudget(calls: number): Budget {
  let left = calls
  return {
    take() {
      if (left <= 0) return false
      left--
      return true
    },
    get left() {
      return left
    },
  }
}
