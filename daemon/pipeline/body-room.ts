/** Memory for large request bodies: limited for each key and for all keys together; later requests wait. */

export const KIB = 1024
export const MIB = 1024 * KIB
/** Bodies up to this size are not counted, because the limit on connections already bounds them. */
const SMALL = MIB
/** Bodies up to this size take milliseconds in total, even if every connection sends one at the same time. */
const QUICK = MIB / 32
const PER_KEY = 32 * MIB
const MAX_ROOM_BYTES = 128 * MIB

export interface BodyRoom {
  /** Resolves when there is room for `bytes`, with the function that releases it; undefined if they are not counted. */
  take(keyId: string, bytes: number): Promise<() => void> | undefined
  /** The next turn of the event loop in which no other large body is parsed; undefined for a small body. */
  turnFor(bytes: number): (() => Promise<void>) | undefined
}

interface Waiting {
  keyId: string
  bytes: number
  admit(): void
}

export function createBodyRoom(): BodyRoom {
  const held = new Map<string, number>()
  const waiting: Waiting[] = []
  let totalBytes = 0
  let turns: Promise<void> = Promise.resolve()

  // A body larger than the whole room is admitted when the room is empty.
  const fits = ({ keyId, bytes }: Waiting) => {
    const own = held.get(keyId) ?? 0
    return (own === 0 || own + bytes <= PER_KEY) && (totalBytes === 0 || totalBytes + bytes <= MAX_ROOM_BYTES)
  }
  const add = (keyId: string, bytes: number) => {
    const own = (held.get(keyId) ?? 0) + bytes
    if (own === 0) held.delete(keyId)
    else held.set(keyId, own)
    totalBytes += bytes
  }
  const admitNext = () => {
    let i = 0
    for (let next = waiting[i]; next !== undefined; next = waiting[i]) {
      if (!fits(next)) i++
      else {
        waiting.splice(i, 1)
        next.admit()
      }
    }
  }
  const admitted = ({ keyId, bytes }: Omit<Waiting, 'admit'>) => {
    add(keyId, bytes)
    let released = false
    return () => {
      if (released) return
      released = true
      add(keyId, -bytes)
      admitNext()
    }
  }
  return {
    take(keyId, bytes) {
      if (bytes <= SMALL) return undefined
      return new Promise((settle) => {
        const one: Waiting = { keyId, bytes, admit: () => settle(admitted(one)) }
        if (fits(one)) one.admit()
        else waiting.push(one)
      })
    },
    turnFor(bytes) {
      if (bytes <= QUICK) return undefined
      return () => {
        turns = turns.then(() => new Promise((settle) => setImmediate(settle)))
        return turns
      }
    },
  }
}
