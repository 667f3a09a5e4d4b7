/** Every account that a transaction touched on a chain, with what it held before the first, so that all changes can be summed. */
import type { LandedTransaction, LocalChain } from '../../../src/localnet/types.ts'
import { WRAPPED_SOL } from '../../../src/solana/program-ids.ts'

/** SOL in sums by token; wrapped SOL is SOL, as it is the lamports of its accounts. */
export const SOL_TOKEN = 'SOL'
/** Lamports that no wallet has: rent, and what programs keep in their own accounts. */
export const RENT = 'rent'
export const NETWORK = 'network'

export type Sums = Map<string, Map<string, bigint>>

interface Held {
  lamports: bigint
  token: { mint: string; owner: string; amount: bigint } | null
}

export type TouchedAccounts = ReturnType<typeof watchAccounts>

/** Begins with the next transaction that lands. */
export function watchAccounts(chain: LocalChain) {
  const opening = new Map<string, Held>()
  const landed: LandedTransaction[] = []
  let fees = 0n
  const stop = chain.subscribe({
    landed(transaction) {
      landed.push(transaction)
      fees += transaction.fee
      for (const [i, address] of transaction.accountKeys.entries()) {
        if (!opening.has(address)) opening.set(address, heldBefore(transaction, i))
      }
    },
  })
  const heldNow = (address: string): Held => {
    const { lamports, tokens } = chain.balances([address])
    return heldOf(lamports[0] ?? 0n, tokens[0])
  }
  return {
    stop,
    landed,
    addresses: () => [...opening.keys()],
    opening: (address: string) => opening.get(address) ?? null,
    /**
     * Changes since the beginning, by token and by party: raw units of a token, lamports of SOL. `partyOf` names a
     * wallet's party, or null for an address that is nobody's wallet. All parties of one token sum to zero, but for what
     * was minted.
     */
    changes(partyOf: (wallet: string) => string | null): Sums {
      const sums: Sums = new Map()
      const add = (token: string, party: string, amount: bigint) => {
        const byParty = sums.get(token) ?? new Map<string, bigint>()
        sums.set(token, byParty.set(party, (byParty.get(party) ?? 0n) + amount))
      }
      for (const [address, before] of opening) {
        const now = heldNow(address)
        const lamports = now.lamports - before.lamports
        const token = now.token ?? before.token
        if (token === null) {
          add(SOL_TOKEN, partyOf(address) ?? RENT, lamports)
          continue
        }
        const amount = (now.token?.amount ?? 0n) - (before.token?.amount ?? 0n)
        const isSol = token.mint === WRAPPED_SOL
        add(isSol ? SOL_TOKEN : token.mint, partyOf(token.owner) ?? `owner ${token.owner}`, amount)
        add(SOL_TOKEN, RENT, isSol ? lamports - amount : lamports)
      }
      add(SOL_TOKEN, NETWORK, fees)
      return sums
    },
    /** All that a wallet has now: its lamports with those of its token accounts, and its tokens by mint. */
    holdings(wallet: string) {
      const accounts = [...chain.tokenAccountsOf(wallet)].map(([address]) => address)
      const { lamports, tokens } = chain.balances([wallet, ...accounts])
      const byMint = new Map<string, bigint>()
      for (const { mint, amount } of tokens) byMint.set(mint, (byMint.get(mint) ?? 0n) + BigInt(amount))
      return { lamports: lamports.reduce((sum, each) => sum + each, 0n), tokens: byMint }
    },
    heldNow,
  }
}

function heldBefore({ preBalances, preTokenBalances }: LandedTransaction, index: number): Held {
  return heldOf(
    preBalances[index] ?? 0n,
    preTokenBalances.find(({ accountIndex }) => accountIndex === index),
  )
}

function heldOf(lamports: bigint, token: LandedTransaction['preTokenBalances'][number] | undefined): Held {
  if (token === undefined) return { lamports, token: null }
  return { lamports, token: { mint: token.mint, owner: token.owner, amount: BigInt(token.amount) } }
}
