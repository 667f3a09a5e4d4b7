/** `svc tokens grind`: searches for a mint whose address begins or ends with a text, and keeps its key in a file. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { groupedText } from '../../src/solana/amounts.ts'
import { type AddressPattern, impossibleLetters, MOST_LETTERS, probabilityOf } from '../../src/solana/grinding.ts'
import { keyPairOf } from '../../src/solana/signatures.ts'
import { integer, text, toggle, verb } from '../cli/command.ts'
import { rowsOfRecords } from '../cli/reads.ts'
import { commandLineOf } from '../cli/shell-words.ts'
import { reason } from '../ui/files.ts'
import { Cancelled, usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'

const MOST_KEYS = 100
const LETTERS = `up to ${MOST_LETTERS} letters of base58`
const PROGRESS_MS = 200

interface GroundKey {
  address: string
  file: string
}

export const grindVerb = verb({
  about: 'Search for a mint whose address begins or ends with a text',
  details:
    'It runs on all cores of this machine, offline, and writes the key into a file (0600), never over another one. `svc pools create --mint-keypair FILE` launches it, and `svc tokens create --mint-keypair FILE` makes a token without a pool. Once its mint exists, the key has no power.',
  flags: {
    starts_with: text(`How the address begins, ${LETTERS}`),
    ends_with: text(`How the address ends, ${LETTERS}`),
    ignore_case: toggle('Let upper and lower case be the same: sooner found'),
    count: integer(`How many keys, 1 to ${MOST_KEYS} (default 1)`, { min: 1, max: MOST_KEYS }),
    out: text('File of the key, or an existing folder (default ADDRESS.json here)', { placeholder: 'FILE' }),
  },
  needs: [['starts_with', 'ends_with']],
  examples: ['svc tokens grind --ends-with pump', 'svc tokens grind --starts-with GLD --ignore-case --out mint.json'],
  async run({ starts_with = '', ends_with = '', ignore_case, count = 1, out }, { ui, clock }) {
    const pattern: AddressPattern = { startsWith: starts_with, endsWith: ends_with, ignoreCase: ignore_case }
    requirePossible(pattern)
    const fileOf = placeOf(out, count)
    const [{ cores, grindInThreads, measuredRate }, { writeKeypair }] = await Promise.all([
      import('./grind-threads.ts'),
      import('../machine/wallets/keypair-file.ts'),
    ])
    const threads = cores()
    const [probability, rate] = [probabilityOf(pattern), measuredRate() * threads]
    const found: GroundKey[] = []
    const keep = (seed: Uint8Array) => {
      const { address } = keyPairOf(seed)
      const file = fileOf(address)
      if (!writeKeypair(file, seed)) throw existing(file)
      seed.fill(0)
      found.push({ address, file })
      return found.length === count
    }
    const stop = new AbortController()
    const interrupted = () => stop.abort()
    process.once('SIGINT', interrupted)
    const from = clock.now()
    let shownAt = from
    const show = (tries: number) => {
      const now = clock.now()
      if (now - shownAt < PROGRESS_MS) return
      shownAt = now
      const speed = (tries * 1_000) / (now - from)
      const more = durationText((count - found.length) / probability / speed)
      const kept = count === 1 ? '' : `${found.length} of ${count} found · `
      ui.waiting(`${kept}${rounded(tries)} tried · ${rounded(speed)} a second · about ${more} more`)
    }
    try {
      await ui.preview([
        `one address in ${rounded(1 / probability)} is like that; ${counted(threads, 'core')} try about ${rounded(rate)} a second`,
        `expected time about ${durationText(count / probability / rate)}; it may take several times as long; Ctrl-C stops it`,
      ])
      const tries = await grindInThreads(pattern, threads, { signal: stop.signal, onFound: keep, onTries: show })
      const seconds = (clock.now() - from) / 1_000
      return {
        data: { keys: found, tries, seconds },
        rows: rowsOfRecords(found, ['address', 'file']),
        notes: [
          `tried ${counted(groupedText(String(tries)), 'key')} in ${durationText(seconds)}`,
          ...found.slice(0, 1).map(({ file }) => {
            const create = (noun: string) => commandLineOf([noun, 'create', '--mint-keypair', file])
            return `\`${create('pools')}\` launches it; \`${create('tokens')}\` makes a token without a pool`
          }),
        ],
      }
    } catch (error) {
      if (error instanceof Cancelled) {
        ui.note(
          `stopped; ${found.length === 0 ? 'no key was found' : `kept: ${found.map(({ file }) => file).join(', ')}`}`,
        )
      }
      throw error
    } finally {
      process.removeListener('SIGINT', interrupted)
      ui.waiting(null)
    }
  },
})

function requirePossible({ startsWith, endsWith, ignoreCase }: AddressPattern): void {
  for (const [param, wanted] of [
    ['--starts-with', startsWith],
    ['--ends-with', endsWith],
  ] as const) {
    const letters = impossibleLetters(wanted, ignoreCase)
    if (letters.length > 0) {
      throw usage(`${param}: no address contains ${letters.map((letter) => JSON.stringify(letter)).join(', ')}`, {
        param,
        next: 'use digits 1 to 9 and letters, without O, I and l',
      })
    }
  }
  if (startsWith.length + endsWith.length > MOST_LETTERS) {
    throw usage(`--starts-with and --ends-with have more than ${MOST_LETTERS} letters together: no search ends`, {
      param: startsWith === '' ? '--ends-with' : '--starts-with',
      next: 'each letter more takes up to 58 times as long: give 3 to 6',
    })
  }
}

/** The file of a key, from its address; throws a usage problem now for what could not be written at the end. */
function placeOf(out: string | undefined, count: number): (address: string) => string {
  const isFolder = out === undefined || statSync(out, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder && existsSync(out)) throw existing(out)
  if (!isFolder && count > 1)
    throw usage(`--out ${out} must be an existing folder for ${counted(count, 'key')}`, {
      param: '--out',
      next: 'make it first',
    })
  const folder = isFolder ? (out ?? '.') : dirname(out)
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw usage(`no key can be written into ${folder}: ${reason(error)}`, { param: '--out' })
  }
  return (address) => (isFolder ? join(out ?? '', `${address}.json`) : out)
}

const existing = (file: string) =>
  usage(`${file} already exists and was not changed`, { param: '--out', next: 'name a file that does not exist' })

/** Two digits of a number, with a word for its size: `1,400`, `38 million`. */
function rounded(value: number): string {
  const size = SIZES.find(([least]) => value >= least)
  const [unit, name] = size ?? [1, '']
  const digits = Number((value / unit).toPrecision(2))
  return `${groupedText(String(digits))}${name === '' ? '' : ` ${name}`}`
}

const SIZES = [
  [1e15, 'quadrillion'],
  [1e12, 'trillion'],
  [1e9, 'billion'],
  [1e6, 'million'],
] as const

/** A duration in the largest unit of which it has one or more. */
function durationText(seconds: number): string {
  const [unit, name] = UNITS.find(([least]) => seconds >= least) ?? [1, 'second']
  const amount = seconds / unit
  if (amount < 1) return 'less than a second'
  return amount >= 1e6 ? `${rounded(amount)} ${name}s` : counted(Math.round(amount), name)
}

const UNITS = [
  [31_557_600, 'year'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const
