/** Compares the interface that a program publishes (its Anchor IDL) with the one that svc builds its instructions by. */
import { inflateSync } from 'node:zlib'
import { DAMM_V2 } from '../../solana/programs/damm-v2.ts'
import { DBC } from '../../solana/programs/dbc.ts'
import type { InstructionRow } from '../../solana/programs/table.ts'
import type { Program } from '../../solana/programs.ts'
import type { NodeCalls } from '../nodes/node-call.ts'

const TABLES = new Map<string, Readonly<Record<string, InstructionRow>>>([
  [DBC.id, DBC.rows.instructions],
  [DAMM_V2.id, DAMM_V2.rows.instructions],
])
const SEED = 'anchor:idl'
/** Of an IDL account: discriminator, authority, and the length of the compressed text as u32. */
const LENGTH_AT = 40
const TEXT_AT = 44
const MAX_IDL_BYTES = 4 * 1024 * 1024
const MOST_DIFFERENCES = 20

/**
 * Returns a sentence for each instruction that the published IDL lacks or gives other accounts; empty if it has no
 * readable IDL. An IDL is published apart from the program, so a difference is a hint.
 */
export async function idlDifferences(node: NodeCalls, program: Program): Promise<string[]> {
  const table = TABLES.get(program.id)
  if (table === undefined) return []
  const published = await readIdl(node, program.id)
  if (published === null) return []
  const differences = Object.entries(table).flatMap(([name, [, accounts]]) => {
    const found = published.get(plain(name))
    if (found === undefined) return [`${name} is not in the published IDL`]
    const names = accounts
      .split(' ')
      .map((role) => plain(role.replace(/:.*/, '')))
      .join(' ')
    return names === found.join(' ') ? [] : [`${name} has other accounts in the published IDL`]
  })
  return differences.slice(0, MOST_DIFFERENCES)
}

/** Names are `swap_2` or `swap2`, depending on the version of Anchor. */
const plain = (name: string) => name.toLowerCase().replaceAll('_', '')

/** The accounts of each instruction, in order; null if there is no IDL, or something else is in its place. */
async function readIdl(node: NodeCalls, program: string): Promise<Map<string, string[]> | null> {
  const answer = await node.call<{ value?: { owner?: unknown; data?: unknown } | null } | null>('getAccountInfo', [
    await idlAddress(program),
    { encoding: 'base64', commitment: 'finalized' },
  ])
  const { owner, data } = answer?.value ?? {}
  if (owner !== program || !Array.isArray(data) || typeof data[0] !== 'string') return null
  try {
    const bytes = Buffer.from(data[0], 'base64')
    const text = bytes.subarray(TEXT_AT, TEXT_AT + bytes.readUInt32LE(LENGTH_AT))
    return accountsOf(JSON.parse(inflateSync(text, { maxOutputLength: MAX_IDL_BYTES }).toString('utf8')))
  } catch {
    return null
  }
}

function accountsOf({ instructions }: { instructions: { name: string; accounts: { name: string }[] }[] }) {
  return new Map(
    instructions.map(({ name, accounts }) => [plain(name), accounts.map((account) => plain(account.name))] as const),
  )
}

async function idlAddress(program: string): Promise<string> {
  const { PublicKey } = await import('@solana/web3.js')
  const id = new PublicKey(program)
  const [base] = PublicKey.findProgramAddressSync([], id)
  return (await PublicKey.createWithSeed(base, SEED, id)).toBase58()
}
