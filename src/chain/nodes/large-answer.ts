/**
 * Reads a JSON-RPC answer of any size piece by piece: the items of `result.value` one at a time, and the remainder as
 * a whole.
 */
import { turnsOf, withTimeout } from '../../platform/timing.ts'
import { bodyOf, parsedJson, resultIn } from './node-call.ts'

export interface LargeCall {
  method: string
  params: readonly unknown[]
  /** Most items, and most bytes of one item, of the parts around the items, and of the whole answer. */
  most: { items: number; itemBytes: number; bytes: number }
  /** Milliseconds for the whole answer. */
  limitMs: number
}

/** Sends a request and returns the answer before its body has been read. */
export type StreamFromNode = (body: string, signal: AbortSignal) => Promise<Response>

/** What reading large answers of a node needs: its requests, and the removal of its URL from its errors. */
export interface LargeAnswers {
  stream: StreamFromNode
  /** Removes credentials from a JSON document, which stays valid. */
  redact(document: string): string
  ending: AbortSignal | undefined
}

/** The answer has more items or bytes than were allowed. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** Bytes around the items: the context, or an error. */
const MOST_AROUND = 65_536
/** Bytes that are read in one go, and milliseconds after which other requests get their turn. */
const SLICE_BYTES = 65_536
const TURN_MS = 8

/**
 * Calls `onItem` with each item of `result.value`, and returns the result with an empty `value`. Throws NodeRefusal for
 * an error of the node, AnswerTooLarge, TimeoutError, and an Error for an answer that is cut off or is not JSON-RPC.
 */
export function callLarge(
  { stream, redact, ending }: LargeAnswers,
  { method, params, most, limitMs }: LargeCall,
  onItem: (item: unknown) => void,
): Promise<unknown> {
  return withTimeout(limitMs, ending, async (signal) => {
    const response = await stream(bodyOf({ method, params }), signal)
    const isFine = response.status >= 200 && response.status < 300
    const answer = new ItemSplitter(isFine ? most : { ...most, bytes: MOST_AROUND }, onItem)
    const nextTurn = turnsOf(TURN_MS)
    for await (const chunk of response.body ?? []) {
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
        answer.take(Buffer.from(chunk.subarray(at, at + SLICE_BYTES)))
        signal.throwIfAborted()
        await nextTurn()
      }
    }
    return resultIn(redact(answer.around()), response.status, 'its answer is cut off, or is not JSON-RPC')
  })
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
/** Depth of the items in `{ result: { value: [item, …] } }`, and what is before their array. */
const ITEM_DEPTH = 3
const LAST_BYTES = 32
const BEFORE_ITEMS = /(?<!\\)"value"\s*:\s*$/

/** Cuts the array at `result.value` into its items, with only one of them in memory at a time. */
class ItemSplitter {
  readonly #most: LargeCall['most']
  readonly #onItem: (item: unknown) => void
  /** Parts of the text around the items, and of the current item. */
  readonly #around: Buffer[] = []
  #lastAround = ''
  #item: Buffer[] = []
  readonly #bytes = { around: 0, item: 0, whole: 0 }
  #items = 0
  #depth = 0
  #inString = false
  #escaped = false
  /** Whether the array of the items is open. */
  #inItems = false

  constructor(most: LargeCall['most'], onItem: (item: unknown) => void) {
    this.#most = most
    this.#onItem = onItem
  }

  take(bytes: Buffer): void {
    this.#bytes.whole += bytes.length
    if (this.#bytes.whole > this.#most.bytes) {
      throw new AnswerTooLarge(`its answer is larger than ${this.#most.bytes} bytes`)
    }
    let from = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      const isBetween = this.#inItems && this.#depth === ITEM_DEPTH
      if (this.#inString) at = this.#throughString(bytes, at)
      else if (byte === QUOTE) this.#inString = true
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (isBetween || (byte === OPEN_ARRAY && this.#depth === ITEM_DEPTH - 1)) {
          this.#keepAround(bytes.subarray(from, at))
          from = at
          this.#inItems ||= BEFORE_ITEMS.test(this.#lastAround)
        }
        this.#depth++
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        this.#depth--
        if (this.#depth < ITEM_DEPTH) this.#inItems = false
        if (this.#inItems && this.#depth === ITEM_DEPTH) {
          this.#giveItem(bytes.subarray(from, at + 1))
          from = at + 1
        }
      } else if (byte === COMMA && isBetween) {
        // The commas between items do not belong to the remainder.
        this.#keepAround(bytes.subarray(from, at))
        from = at + 1
      }
    }
    if (this.#inItems && this.#depth > ITEM_DEPTH) this.#keepItem(bytes.subarray(from))
    else this.#keepAround(bytes.subarray(from))
  }

  /** The answer without its items. */
  around(): string {
    return Buffer.concat(this.#around).toString('utf8')
  }

  /** Returns the place of the string's last byte, or of the last byte of all. */
  #throughString(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      if (this.#escaped) this.#escaped = false
      else if (bytes[at] === BACKSLASH) this.#escaped = true
      else if (bytes[at] === QUOTE) {
        this.#inString = false
        return at
      }
    }
    return bytes.length
  }

  #keepAround(part: Buffer): void {
    this.#bytes.around += part.length
    if (this.#bytes.around > MOST_AROUND) throw new Error('its answer is malformed')
    if (part.length === 0) return
    // A copy, because a part of a slice would keep the whole slice in memory.
    this.#around.push(Buffer.from(part))
    this.#lastAround = (this.#lastAround + part.subarray(-LAST_BYTES).toString('latin1')).slice(-LAST_BYTES)
  }

  #keepItem(part: Buffer): void {
    this.#bytes.item += part.length
    if (this.#bytes.item > this.#most.itemBytes) throw new Error('an item of its answer is too large')
    this.#item.push(part)
  }

  #giveItem(end: Buffer): void {
    this.#keepItem(end)
    if (++this.#items > this.#most.items) throw new AnswerTooLarge(`its answer has more than ${this.#most.items} items`)
    const item = parsedJson(Buffer.concat(this.#item).toString('utf8'))
    if (item === undefined) throw new Error('its answer is not JSON')
    this.#item = []
    this.#bytes.item = 0
    this.#onItem(item)
  }
}
