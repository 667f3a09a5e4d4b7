/** `svc merkle verify`: whether a list has a root, or a proof leads to one. */
import { hashFromHex, toHex, verifyProof } from '../../src/merkle/tree.ts'
import { list, type Outcome, text, verb } from '../command.ts'
import { readText } from '../ui/files.ts'
import { EXIT, usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'
import { type CsvChoices, csvFlags, hashTree, readRecipients } from './recipients.ts'
import { readKey } from './summary.ts'

export const verify = verb({
  about: 'Check a list against a root, or one proof; exit 0 yes, 1 no',
  details:
    'With FILE: builds its tree and compares the root with --root. Without: checks one proof, given as --proof FILE (the JSON that `svc merkle proof -o json` prints) or as --wallet, --amount and --siblings. Give --root from a source you trust: a proof file proves nothing about its own root.',
  args: { file: text('The CSV, or - for standard input') },
  flags: {
    root: text('The root, hex with or without 0x', { placeholder: 'HEX' }),
    ...csvFlags,
    proof: text('JSON file of one proof, or -', { placeholder: 'FILE' }),
    wallet: text('Wallet of the proof', { placeholder: 'WALLET' }),
    amount: text('Amount of the proof in raw units', { placeholder: 'DIGITS' }),
    siblings: list('Hashes of the proof, leaf to root', { placeholder: 'HEX,…' }),
  },
  examples: [
    'svc merkle verify recipients.csv --root "$(cat root.txt)"',
    'svc merkle verify --proof proof.json --root HEX',
  ],
  async run({ file, root, proof, wallet, amount, siblings, ...csv }, { ui }) {
    const single = proof !== undefined || wallet !== undefined || amount !== undefined || siblings !== undefined
    if (file !== undefined) {
      if (single) throw usage('give a FILE, or a proof (--proof, or --wallet --amount --siblings), not both')
      return verifyList(file, root, csv, ui)
    }
    if (proof !== undefined) return verifyOne({ ...(await readProof(proof)), ...(root === undefined ? {} : { root }) })
    if (!single) throw usage('give the CSV as FILE, or --proof FILE')
    return verifyOne({ wallet, amount, proof: siblings ?? [], root })
  },
})

async function verifyList(file: string, wanted: string | undefined, csv: CsvChoices, ui: Ui): Promise<Outcome> {
  const expected = toHex(readHash(wanted, '--root'))
  const { list } = await readRecipients(file, csv, ui)
  const root = toHex(hashTree(list, ui).root)
  const valid = root === expected
  return {
    data: { valid, root, expected, leaf_count: list.count },
    text: valid
      ? `Yes: ${file} with ${list.count} rows has the root ${root}.`
      : `No: ${file} with ${list.count} rows has the root ${root}, expected ${expected}.`,
    notes: valid
      ? []
      : [
          'Amounts, --decimals, --duplicates and the order of rows all change the root; `svc merkle diff` shows what differs.',
        ],
    exitCode: valid ? EXIT.done : EXIT.failed,
  }
}

interface GivenProof {
  wallet?: unknown
  amount?: unknown
  proof?: unknown
  root?: unknown
}

function verifyOne({ wallet, amount, proof, root }: GivenProof): Outcome {
  if (typeof wallet !== 'string') throw usage('the wallet is missing', { param: '--wallet' })
  if (typeof amount !== 'string' || !/^\d{1,20}$/.test(amount)) {
    throw usage('the amount must be raw units, digits only', { param: '--amount' })
  }
  if (!Array.isArray(proof)) throw usage('the proof must be a list of hashes', { param: '--siblings' })
  const hashes = proof.map((hash, i) => readHash(hash, `proof.${i}`))
  const expected = readHash(root, '--root')
  const valid = verifyProof(readKey(wallet, '--wallet'), BigInt(amount), hashes, expected)
  return {
    data: { valid, wallet, amount, root: toHex(expected) },
    text: valid
      ? `Yes: ${wallet} may claim ${amount} under the root ${toHex(expected)}.`
      : `No: this proof does not lead from ${wallet} with ${amount} to the root ${toHex(expected)}.`,
    exitCode: valid ? EXIT.done : EXIT.failed,
  }
}

/** Takes the bare proof or a whole answer of the API. */
async function readProof(file: string): Promise<GivenProof> {
  try {
    const parsed = JSON.parse(await readText(file))
    const found = parsed?.data ?? parsed
    if (typeof found === 'object' && found !== null) return found
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw usage(`${file} is not the JSON of a proof`, { next: 'make one with: svc merkle proof … -o json' })
}

function readHash(text: unknown, where: string): Uint8Array {
  const hash = typeof text === 'string' ? hashFromHex(text.trim()) : undefined
  if (hash === undefined) throw usage(`${where} must be 32 bytes in hex`, { param: where })
  return hash
}
