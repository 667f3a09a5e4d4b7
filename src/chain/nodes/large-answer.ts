/**
 * Reads a JSON-RPC answer of any size piece by piece: the items of `result.value` one at a time, and the remainder as
 * a whole.
 */
import { turnsOf, withTimeout } from '../../platform/timing.ts'
import { NodeRefusal } from './node-call.ts'

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
  redact(text: string): string
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
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return withTimeout(limitMs, ending, async (signal) => {
    const response = await stream(body, signal)
    const isFine = response.status >= 200 && response.status < 300
    const items = new ItemScanner(isFine ? most : { ...most, bytes: MOST_AROUND }, onItem)
    const nextTurn = turnsOf(TURN_MS)
    for await (const chunk of response.body ?? []) {
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
        items.take(chunk.subarray(at, at + SLICE_BYTES))
        signal.throwIfAborted()
        await nextTurn()
      }
    }
    return resultOf(items.around(), response.status, redact)
  })
}

function resultOf(text: string, status: number, redact: (text: string) => string): unknown {
  let answer: Record<string, unknown> | undefined
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null) answer = parsed as Record<string, unknown>
  } catch {
    // The answer broke off or is not JSON. The status says more.
  }
  const { code, message, data } = (answer?.error ?? {}) as { code?: unknown; message?: unknown; data?: unknown }
  if (typeof code === 'number') throw new NodeRefusal(code, redact(String(message).slice(0, 1_000)), data)
  if (status < 200 || status > 299) throw new Error(`it answers HTTP ${status}`)
  if (answer === undefined || !Object.hasOwn(answer, 'result')) {
    throw new Error('its answer is cut off, or is not JSON-RPC')
  }
  return answer.result
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
/** Depth of the items in `{ result: { value: [item, …] } }`. */
const ITEM_DEPTH = 3
const ITEMS_IN = 'result.value'

/** Cuts the array at `result.value` into its items, with only one of them in memory at a time. */
class ItemScanner {
  readonly #most: LargeCall['most']
  readonly #onItem: (item: unknown) => void
  /** Bytes around the items, and of the current item. */
  readonly #around: Buffer[] = []
  #aroundBytes = 0
  #item: Buffer[] = []
  #itemBytes = 0
  #items = 0
  #bytes = 0
  #depth = 0
  #inString = false
  #escaped = false
  /** Whether the array of the items is open. */
  #inItems = false
  /** The last string outside the items, and the names of the open members. */
  #string: number[] = []
  readonly #names: string[] = []

  constructor(most: LargeCall['most'], onItem: (item: unknown) => void) {
    this.#most = most
    this.#onItem = onItem
  }

  take(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#most.bytes) throw new AnswerTooLarge(`its answer is larger than ${this.#most.bytes} bytes`)
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let from = 0
    for (let at = 0; at < bytes.length; at++) {
      if (this.#inString) {
        at = this.#throughString(bytes, at)
        continue
      }
      const byte = bytes[at]
      if (byte === QUOTE) {
        this.#inString = true
        this.#string = []
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (this.#inItems && this.#depth === ITEM_DEPTH) {
          this.#keepAround(bytes.subarray(from, at))
          from = at
        }
        this.#open(byte)
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        this.#depth--
        this.#names.length = Math.max(0, this.#depth)
        if (this.#inItems && this.#depth === ITEM_DEPTH) {
          this.#keepItem(bytes.subarray(from, at + 1))
          from = at + 1
          this.#give()
        } else if (this.#depth < ITEM_DEPTH) this.#inItems = false
      } else if (byte === COMMA && this.#inItems && this.#depth === ITEM_DEPTH) {
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

  /** Returns the place of the string's last byte, or of the chunk's last byte. */
  #throughString(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (this.#escaped) this.#escaped = false
      else if (byte === BACKSLASH) this.#escaped = true
      else if (byte === QUOTE) {
        this.#inString = false
        return at
      }
      if (this.#depth < ITEM_DEPTH && this.#string.length < 16) this.#string.push(byte)
    }
    return bytes.length
  }

  #open(byte: number): void {
    // The string before an object or array inside an object is its name.
    if (this.#depth < ITEM_DEPTH && this.#depth > 0) {
      this.#names[this.#depth - 1] = String.fromCharCode(...this.#string)
      this.#inItems = byte === OPEN_ARRAY && this.#depth === ITEM_DEPTH - 1 && this.#names.join('.') === ITEMS_IN
    }
    this.#depth++
  }

  #keepAround(part: Buffer): void {
    this.#aroundBytes += part.length
    if (this.#aroundBytes > MOST_AROUND) throw new Error('its answer is malformed')
    // The reader of the body may reuse the chunk.
    if (part.length > 0) this.#around.push(Buffer.from(part))
  }

  #keepItem(part: Buffer): void {
    this.#itemBytes += part.length
    if (this.#itemBytes > this.#most.itemBytes) throw new Error('an item of its answer is too large')
    this.#item.push(Buffer.from(part))
  }

  #give(): void {
    if (++this.#items > this.#most.items) throw new AnswerTooLarge(`its answer has more than ${this.#most.items} items`)
    const text = (this.#item.length === 1 ? (this.#item[0] as Buffer) : Buffer.concat(this.#item)).toString('utf8')
    this.#item = []
    this.#itemBytes = 0
    let item: unknown
    try {
      item = JSON.parse(text)
    } catch {
      throw new Error('its answer is not JSON')
    }
    this.#onItem(item)
  }
}
