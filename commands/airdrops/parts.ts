/** The airdrops of one list: what is on chain of each, and whether the payer has the tokens for the rest. */
import type { MerkleTree as TreeRecord } from '../../src/api/merkle-trees.ts'
import { ApiError } from '../../src/errors.ts'
import type { MerkleTree } from '../../src/merkle/tree.ts'
import { decimalOf } from '../amounts.ts'
import type { Session } from '../command.ts'
import { failure, usage } from '../ui/problem.ts'
import { isOwnOnChain } from './own.ts'

export interface Part {
  tree: MerkleTree
  record: TreeRecord
  /** `funded`: its distributor is on chain; it was funded in the transaction that made it. */
  state: 'open' | 'funded'
  distributor: string | null
  signature: string | null
}

/** Throws a usage problem where another list has the id, or somebody else the distributor. */
export async function partsOf(
  { client }: Session,
  trees: readonly Pick<Part, 'tree' | 'record'>[],
  { payer, replace }: { payer: string; replace: boolean },
): Promise<Part[]> {
  const parts: Part[] = []
  for (const { tree, record } of trees) {
    const known = await client.airdrops.get({ id: record.id }).catch((error) => {
      if (error instanceof ApiError && error.code === 'not_found') return null
      throw error
    })
    const open: Part = { tree, record, state: 'open', distributor: null, signature: null }
    if (known === null) {
      parts.push(open)
      continue
    }
    const { data } = known
    const isOnChain = isOwnOnChain(data, record.root, payer)
    if (data.root !== record.root && !replace) {
      throw usage(
        `airdrop ${record.airdrop_count} of ${record.mint} is another list: its root is ${data.root}, that of this one ${record.root}`,
        { param: '--airdrop-count', next: 'take another --airdrop-count, or --replace the stored list' },
      )
    }
    parts.push(isOnChain ? { ...open, state: 'funded', distributor: data.distributor } : open)
  }
  return parts
}

interface Needed {
  mint: string
  payer: string
  parts: readonly Part[]
  /** Of the CSV; undefined where its amounts are raw units. */
  decimals: number | undefined
}

/** Answers the decimals of the mint. Throws a usage problem where --decimals is not that, or tokens are missing. */
export async function requireTokens({ client }: Session, { mint, payer, parts, decimals }: Needed): Promise<number> {
  const { raw } = (await client.tokens.get({ mint })).data
  const { decimals: known } = (raw ?? {}) as { decimals?: unknown }
  if (typeof known !== 'number') throw failure(`the decimals of the token ${mint} cannot be read`)
  if (decimals !== undefined && decimals !== known) {
    throw usage(`the token ${mint} has ${known} decimals, not ${decimals}: every amount would be wrong`, {
      param: '--decimals',
      next: `give --decimals ${known}, or leave it out where the amounts are raw units`,
    })
  }
  if (parts.length === 0) return known
  const need = parts.reduce((sum, { record }) => sum + BigInt(record.total), 0n)
  const { data: pda } = await client.pdas.derive({ kind: 'ata', args: { owner: payer, mint } })
  const have = await client.accounts.get({ address: pda.address }).then(
    ({ data }) => Buffer.from(data.data, 'base64').readBigUInt64LE(AMOUNT_AT),
    (error) => {
      if (error instanceof ApiError && error.code === 'not_found') return 0n
      throw error
    },
  )
  if (have >= need) return known
  throw usage(
    `${payer} has ${decimalOf(have, known)} of the ${decimalOf(need, known)} tokens that this takes: ${decimalOf(need - have, known)} are missing`,
    { next: `send them to ${payer}`, details: { have: String(have), need: String(need), token_account: pda.address } },
  )
}

/** Of a token account (SPL Token). */
const AMOUNT_AT = 64
