/** Funds the buyer of a rehearsal: lamports, and tokens of a quote that is not SOL. */
import { internal } from '../../platform/errors.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { TOKEN } from '../../solana/programs/token.ts'
import { readMint } from '../../solana/token-accounts.ts'
import { buildTransaction } from '../building.ts'
import type { Rehearsal } from './rehearsal.ts'

/** Lamports for rent and fees, in addition to the price. */
const BUYER_LAMPORTS = 10_000_000_000n
const FUNDING_UNITS = 100_000

/** Funds the buyer before the balances begin, so the report shows neither a step nor a balance for it. */
export async function buyerFunds(rehearsal: Rehearsal, quoteMint: string, amount: bigint): Promise<void> {
  const { buyer } = rehearsal
  if (quoteMint === WRAPPED_SOL) return rehearsal.fund(buyer, amount + BUYER_LAMPORTS)
  await rehearsal.fund(buyer, BUYER_LAMPORTS)
  await mintOnCopy(rehearsal, quoteMint, amount)
}

/** Makes the buyer the authority of the quote's mint on the copy, and has it mint to itself. */
async function mintOnCopy({ context, copy, buyer }: Rehearsal, quoteMint: string, amount: bigint): Promise<void> {
  const [{ PublicKey }, spl, { compileUnsigned }] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    import('../../chain/sending/unsigned.ts'),
  ])
  const [account = null] = await copy.accounts([quoteMint])
  const state = account && readMint(account)
  if (account === null || state === null) throw internal(`The quote ${quoteMint} is not a mint on the cluster`)
  const data = Buffer.from(account.data)
  const [mint, owner, program] = [new PublicKey(quoteMint), new PublicKey(buyer), new PublicKey(account.owner)]
  data.set(TOKEN.accountData('mint', { ...state, mintAuthority: buyer }))
  await copy.setAccount(quoteMint, { ...account, data })
  const tokens = spl.getAssociatedTokenAddressSync(mint, owner, false, program)
  const { transaction } = await buildTransaction(context, {
    payer: buyer,
    fallbackUnits: FUNDING_UNITS,
    build: (envelope) =>
      compileUnsigned(envelope, [
        spl.createAssociatedTokenAccountIdempotentInstruction(owner, tokens, owner, mint, program),
        spl.createMintToInstruction(mint, tokens, owner, amount, [], program),
      ]),
  })
  const landed = await copy.land(transaction)
  if (landed.err !== null) throw internal(`The copy could not fund a buyer with the quote ${quoteMint}`)
}
