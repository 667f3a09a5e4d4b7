/** Transactions of plain instructions, their guards, and the tokens that they move, on an embedded chain. */
import type { LocalChain } from '../../src/localnet/types.ts'
import { addressBytes } from '../../src/solana/addresses.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { plainMint, plainTokenAccount } from '../../src/solana/token-accounts.ts'
import type { TransactionConfig } from '../../src/solana/transaction-config.ts'

interface PlainTransaction {
  payer: string
  recentBlockhash: string
  config?: TransactionConfig
}

/** Unsigned; of version 1 with a config. */
export function plainTransaction(envelope: PlainTransaction, instructions: readonly PlainInstruction[]): Uint8Array {
  const plain = instructions.map(({ program, accounts, data }) => ({
    programId: program,
    keys: accounts.map(({ address: pubkey, ...use }) => ({ pubkey, ...use })),
    data,
  }))
  return compileTransaction({ ...envelope, instructions: plain, bytesOf: addressBytes }).transaction
}

/** Puts a mint and an account of it on the chain; amounts in raw units. */
export function putTokens(chain: LocalChain, account: string, own: { mint: string; owner: string; amount: bigint }) {
  const token = { lamports: 10_000_000n, owner: TOKEN_PROGRAM, executable: false }
  chain.setAccount(own.mint, { ...token, data: plainMint(6, own.amount) })
  chain.setAccount(account, { ...token, data: plainTokenAccount(own) })
}
