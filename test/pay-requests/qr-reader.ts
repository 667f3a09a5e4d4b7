/** Reads the text of a QR code from its modules, as a scanner does, without correcting errors: ours have none. */

/** Data codewords and number of blocks at level M, by version (ISO/IEC 18004, table 9). */
const LEVEL_M: readonly (readonly [data: number, blocks: number])[] = [
  [16, 1],
  [28, 1],
  [44, 1],
  [64, 2],
  [86, 2],
  [108, 4],
  [124, 4],
  [154, 4],
  [182, 5],
  [216, 5],
]
/** Centres of the alignment patterns, by version. */
const ALIGNED = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]]
const MASKS: readonly ((y: number, x: number) => boolean)[] = [
  (y, x) => (y + x) % 2 === 0,
  (y) => y % 2 === 0,
  (_, x) => x % 3 === 0,
  (y, x) => (y + x) % 3 === 0,
  (y, x) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
  (y, x) => ((y * x) % 2) + ((y * x) % 3) === 0,
  (y, x) => (((y * x) % 2) + ((y * x) % 3)) % 2 === 0,
  (y, x) => (((y + x) % 2) + ((y * x) % 3)) % 2 === 0,
]

/** `rows` is true for dark, with four light modules around the code. Throws if it is not a code of level M in bytes. */
export function readQrCode(rows: readonly (readonly boolean[])[]): string {
  const code = rows.slice(4, -4).map((row) => row.slice(4, -4))
  const size = code.length
  const version = (size - 17) / 4
  const at = (y: number, x: number) => code[y]?.[x] === true
  const format = bits([0, 1, 2, 3, 4, 5, 7, 8].map((x) => at(8, x))) ^ 0b10101000
  // The first two bits are the level, 00 for M, and the next three the mask.
  if (format >> 6 !== 0) throw new Error('the code is not of level M')
  const mask = MASKS[(format >> 3) & 7]!
  const codewords = codewordsOf(size, version, (y, x) => at(y, x) !== mask(y, x))
  return textOf(dataOf(codewords, version), version)
}

const bits = (values: readonly boolean[]): number => values.reduce((sum, value) => 2 * sum + (value ? 1 : 0), 0)

/** The codewords in two columns at a time from the right, up and down in turn, past the patterns. */
function codewordsOf(size: number, version: number, read: (y: number, x: number) => boolean): number[] {
  const found: boolean[] = []
  let isUpwards = true
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right--
    for (let step = 0; step < size; step++) {
      const y = isUpwards ? size - 1 - step : step
      for (const x of [right, right - 1]) if (!isPattern(y, x, size, version)) found.push(read(y, x))
    }
    isUpwards = !isUpwards
  }
  return Array.from({ length: Math.floor(found.length / 8) }, (_, i) => bits(found.slice(8 * i, 8 * i + 8)))
}

function isPattern(y: number, x: number, size: number, version: number): boolean {
  if (y === 6 || x === 6) return true
  if ((y < 9 && (x < 9 || x >= size - 8)) || (y >= size - 8 && x < 9)) return true
  if (version >= 7 && ((y < 6 && x >= size - 11) || (x < 6 && y >= size - 11))) return true
  const centres = ALIGNED[version - 1]!
  const last = centres.at(-1)
  return centres.some((cy) =>
    centres.some((cx) => {
      const isFinder = (cy === 6 && cx === 6) || (cy === 6 && cx === last) || (cy === last && cx === 6)
      return !isFinder && Math.abs(cy - y) <= 2 && Math.abs(cx - x) <= 2
    }),
  )
}

/** The data codewords of all blocks, which stand alternately; later blocks may have one more. */
function dataOf(codewords: readonly number[], version: number): number[] {
  const [total, count] = LEVEL_M[version - 1]!
  const short = Math.floor(total / count)
  const longer = total % count
  const lengths = Array.from({ length: count }, (_, i) => short + (i >= count - longer ? 1 : 0))
  const blocks = lengths.map((): number[] => [])
  let place = 0
  for (let i = 0; i <= short; i++) {
    for (const [n, block] of blocks.entries()) if (i < lengths[n]!) block.push(codewords[place++]!)
  }
  return blocks.flat()
}

function textOf(data: readonly number[], version: number): string {
  const text = data.map((byte) => byte.toString(2).padStart(8, '0')).join('')
  if (text.slice(0, 4) !== '0100') throw new Error('the code is not in bytes')
  const head = version < 10 ? 12 : 20
  const length = Number.parseInt(text.slice(4, head), 2)
  const bytes = Array.from({ length }, (_, i) => Number.parseInt(text.slice(head + 8 * i, head + 8 * i + 8), 2))
  return Buffer.from(bytes).toString('utf8')
}
