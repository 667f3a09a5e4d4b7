/** Does what comes up during one turn of the event loop together, at the turn's end. */

/** Collects what it is given, and gives all of a turn to `act`. */
export function atEndOfTurn<T>(act: (all: readonly T[]) => void): (one: T) => void {
  let waiting: T[] = []
  const actOnAll = () => {
    const all = waiting
    waiting = []
    act(all)
  }
  return (one) => {
    if (waiting.push(one) === 1) setImmediate(actOnAll)
  }
}
