/** Finds every lock of a mint, whoever made it, with what its token account really holds. */
import { turnsOf } from '../../../platform/timing.ts'
import { totalOf } from '../../../solana/lock-schedule.ts'
import { ESCROW_BYTES, JUPITER_LOCK } from '../../../solana/programs/jupiter-lock.ts'
import { readTokenAccount } from '../../../solana/token-accounts.ts'
import type { Chain } from '../../connection.ts'
import { scanAccounts } from '../../holders/scan.ts'
import { accountsAt } from '../../sending/runs.ts'
import { openDeriver } from '../derived-addresses.ts'
import { decodeEscrow, type Escrow } from './escrow.ts'

/** A lock that still owes something. */
export interface LockOfMint {
  escrow: Escrow
  /** Raw units in its token account, but at most what it owes. */
  held: bigint
}

/** Most locks of one mint that are read, because anyone can make small ones. */
const LIMITS = { accounts: 2_000, milliseconds: 20_000 }
/** Milliseconds of searching for addresses after which other requests get their turn. */
const TURN_MS = 8

/**
 * Returns the locks that are neither paid out nor cancelled, in the node's order. Throws internal_error when the node
 * fails, does not list the accounts of programs, or shows more than are read.
 */
export async function locksOfMint(
  chain: Pick<Chain, 'call' | 'callLarge'>,
  mint: string,
  minSlot: number,
): Promise<LockOfMint[]> {
  const escrows: Escrow[] = []
  await scanAccounts(
    chain,
    {
      what: `Listing the locks of ${mint}`,
      program: JUPITER_LOCK.id,
      filters: [
        { dataSize: ESCROW_BYTES },
        { memcmp: { offset: JUPITER_LOCK.offsetOf('escrow', 'token_mint'), bytes: mint } },
      ],
      dataSlice: { offset: 0, length: ESCROW_BYTES },
      minSlot,
      commitment: 'confirmed',
      limits: LIMITS,
    },
    ({ address, data }) => {
      const escrow = decodeEscrow(address, { owner: JUPITER_LOCK.id, data, lamports: 0n, executable: false })
      if (escrow?.mint === mint && escrow.cancelledAt === 0n && owedBy(escrow) > 0n) escrows.push(escrow)
    },
  )
  const held = await tokensHeld(chain, escrows)
  return escrows.map((escrow, i) => {
    const [owed, has] = [owedBy(escrow), held[i] ?? 0n]
    return { escrow, held: has < owed ? has : owed }
  })
}

/** Raw units that a lock has not paid out yet. */
const owedBy = (escrow: Escrow): bigint => totalOf(escrow) - escrow.claimed

/** A permanent delegate or a transfer fee leaves less in the token account than the lock says. */
async function tokensHeld(chain: Pick<Chain, 'call'>, escrows: readonly Escrow[]): Promise<bigint[]> {
  if (escrows.length === 0) return []
  const [{ PublicKey }, spl, deriver] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    openDeriver(),
  ])
  const nextTurn = turnsOf(TURN_MS)
  const addresses: string[] = []
  for (const { address, mint, tokenProgram } of escrows) {
    const program = tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
    addresses.push(deriver.tokenAccount(new PublicKey(mint), new PublicKey(address), program).toBase58())
    await nextTurn()
  }
  const accounts = await accountsAt(chain, addresses)
  return accounts.map((account) => (account === null ? 0n : (readTokenAccount(account)?.amount ?? 0n)))
}
