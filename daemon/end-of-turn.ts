/** Runs what comes up during one turn of the event loop together, at the turn's end. */

/**
 * Answers that are written one by one between two requests wake their client as often; those that are written together
 * wake it once, which on one machine costs a quarter less per request. An answer waits for the requests that were
 * there with its own and for nothing else.
 */
export function atEndOfTurn(): (act: () => void) => void {
  let waiting: (() => void)[] = []
  const actAll = () => {
    const all = waiting
    waiting = []
    for (const act of all) act()
  }
  return (act) => {
    if (waiting.push(act) === 1) setImmediate(actAll)
  }
}
