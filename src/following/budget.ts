/** Limits the number of calls that one round of following may make to the RPC node. */

export interface Budget {
  /** Takes one call from the budget. Returns false when no call is left. */
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

/** Takes the given number of calls. Returns false and takes none when fewer are left. */
export function takeCalls(budget: Budget, calls: number): boolean {
  if (budget.left < calls) return false
  for (let i = 0; i < calls; i++) budget.take()
  return true
}
