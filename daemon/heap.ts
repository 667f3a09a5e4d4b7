/** How much garbage the heap of a daemon may hold before all of it is collected. */
import { setFlagsFromString } from 'node:v8'

const FLAG = '--heap-growing-percent'
/**
 * What the old space may grow by between two full collections, in per cent of what lives in it. V8 by itself lets it
 * grow to four times that where a machine has memory to spare.
 */
const GROWTH_PERCENT = 30

/**
 * Has V8 keep less garbage from here on, unless whoever started the process has said how much. To be called once what a
 * daemon loads is loaded, as V8 takes stored code only under the flags that it was made with.
 */
export function boundHeapGrowth(): void {
  if (!process.execArgv.some((flag) => flag.replaceAll('_', '-').startsWith(FLAG))) {
    setFlagsFromString(`${FLAG}=${GROWTH_PERCENT}`)
  }
}
