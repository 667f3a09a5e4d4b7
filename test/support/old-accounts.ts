/** Token accounts and mints that hold more than today's rent minimum, as a time with a higher rate of rent left them. */
import * as spl from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import type { LocalChain } from '../../src/localnet/types.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { mapped } from './mapped.ts'
import { extended, mintData, type TokenExtensions, tokenAccountData } from './token-accounts.ts'
import { someAddress } from './wallets.ts'

/** Lamports beyond today's minimum. */
export const EXCESS = 550_840n

export const bytesOf = (address: string): Buffer => new PublicKey(address).toBuffer()

export interface OldAccount {
  program?: string
  mint?: string
  amount?: bigint
  frozen?: boolean
  extensions?: TokenExtensions
  excess?: bigint
  /** At the associated address; otherwise anywhere. */
  isAssociated?: boolean
  change?(data: Buffer): void
}

/** Puts accounts of a wallet there; each function returns the address. */
export function oldAccounts(chain: Pick<LocalChain, 'setAccount' | 'minimumBalance'>, wallet: string) {
  const put = (address: string, program: string, data: Uint8Array, excess: bigint) => {
    const lamports = chain.minimumBalance(data.length) + excess
    chain.setAccount(address, { lamports, owner: program, executable: false, data })
    return address
  }
  const mintOf = (program: string) => put(someAddress(), program, mintData(6), 0n)
  return {
    put,
    mintOf,
    token({ program = TOKEN_PROGRAM, amount = 0n, frozen = false, excess = EXCESS, ...old }: OldAccount = {}): string {
      const { extensions, isAssociated = true, change, mint = mintOf(program) } = old
      const base = tokenAccountData(bytesOf(mint), { owner: bytesOf(wallet), amount, frozen })
      change?.(base)
      const data = extensions === undefined ? base : extended(base, 2, extensions)
      const [key, owner, of] = mapped([mint, wallet, program], (one) => new PublicKey(one))
      const at = isAssociated ? spl.getAssociatedTokenAddressSync(key, owner, true, of).toBase58() : someAddress()
      return put(at, program, data, excess)
    },
    ownMint(program: string, excess = EXCESS, authority = wallet): string {
      const data = mintData(6)
      data.writeUInt32LE(1, 0)
      bytesOf(authority).copy(data, 4)
      return put(someAddress(), program, data, excess)
    },
  }
}
