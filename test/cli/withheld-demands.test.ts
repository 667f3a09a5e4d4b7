/** What `svc tokens withdraw-withheld --accounts` signs: fees of the named token accounts alone. */
import * as spl from '@solana/spl-token'
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { createWallet } from '../../commands/machine/wallets/wallet.ts'
import { checkedBuild, signingFor } from '../../commands/signing/demand.ts'
import { demandsWithdrawal } from '../../commands/tokens/extension-acts.ts'
import { compileUnsigned } from '../../src/chain/sending/unsigned.ts'
import { GOLDEN_BLOCKHASH, goldenKey } from '../support/golden.ts'
import { mapped } from '../support/mapped.ts'

const [payer, mint, named, other] = mapped([1, 2, 3, 4], (seed) => goldenKey(seed).publicKey)
const PROGRAM = spl.TOKEN_2022_PROGRAM_ID
const own = spl.getAssociatedTokenAddressSync(mint, payer, true, PROGRAM)
const withdrawal = (sources: PublicKey[]) =>
  spl.createWithdrawWithheldTokensFromAccountsInstruction(mint, own, payer, [], sources, PROGRAM)

async function check(instruction: TransactionInstruction): Promise<void> {
  const session = { wallet: createWallet(), clock: { now: () => Date.now(), sleep: async () => undefined } }
  const built = await compileUnsigned({ payer: payer.toBase58(), recentBlockhash: GOLDEN_BLOCKHASH }, [instruction])
  const demand = await demandsWithdrawal(signingFor(session, payer.toBase58(), { guard: undefined }), {
    mint: mint.toBase58(),
    accounts: [named.toBase58()],
  })
  await checkedBuild(session, Buffer.from(built.transaction).toString('base64'), demand)
}

describe('A withdrawal of withheld fees', () => {
  it('is signed if it takes those of the named account', async () => {
    await check(withdrawal([named]))
  })

  it('is refused if it takes those of another account too', async () => {
    await expect(check(withdrawal([other, named]))).rejects.toThrow('sourceAccounts')
  })

  // The program takes the count as the accounts from the end, and as all if there are fewer.
  it.each([0, 3, 255])('is refused if it says that it has %i accounts, and names another', async (count) => {
    const instruction = withdrawal([other, named])
    instruction.data = Buffer.of(...instruction.data.subarray(0, 2), count)
    await expect(check(instruction)).rejects.toThrow(/passes|calls something/)
  })
})
