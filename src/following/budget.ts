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

/** Takes so many calls; false, and none is taken, where fewer are left. */
export function takeCalls(budget: Budget, calls: number): boolean {
  if (budget.left < calls) return false
  for (let i = 0; i < calls; i++) budget.take()
  return true
}
