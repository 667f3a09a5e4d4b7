/** Delegates of positions: what grants and claims are built of, what is read of them, and what the real program does. */
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  buildPositionClaim,
  buildPositionDelegation,
  claimDelegateOf,
  type DammV2Position,
  isClaimDelegateOnly,
  permissionsOf,
  positionsPerClaim,
  readPositions,
} from '../../src/chain/programs/damm-v2/index.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { HAS_DAMM_V2, openDammV2, strangersClient } from '../support/damm-v2.ts'
import { GOLDEN_BLOCKHASH, goldenKey } from '../support/golden.ts'
import { SOL, someone } from '../support/local-chain.ts'
import { hasInstruction } from '../support/programs.ts'
import { addressOf } from '../support/wallets.ts'

const [OWNER, HOT, PAYER] = [51, 52, 53].map(goldenKey) as [Keypair, Keypair, Keypair]
const lacksDelegates = !hasInstruction(PROGRAMS.dammV2.id, 'UpdateDelegatePermission')
const BUDGET = [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 400_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000 }),
]
const PERMISSIONS_OFFSET = 392

const strangersPositions = (count: number) =>
  Array.from({ length: count }, () => ({ position: someone().toBase58(), positionNftAccount: someone().toBase58() }))

async function openWithPosition() {
  const chain = await openDammV2()
  const keys = { creator: chain.wallet(), mint: Keypair.generate(), positionNft: Keypair.generate() }
  const pool = await chain.launch(keys)
  const [trader, hot] = [chain.wallet(), chain.wallet()]
  chain.land(await chain.swap(pool, trader, { side: 'buy', amount: 5n * SOL }), trader)
  const owner = addressOf(keys.creator)
  const read = async () => (await readPositions(chain.connection, pool.address, owner))[0]!
  const delegation = async (delegate: string | null) =>
    buildPositionDelegation({
      payer: owner,
      recentBlockhash: GOLDEN_BLOCKHASH,
      owner,
      delegate,
      positions: [await read()],
    })
  const claim = async (position: DammV2Position) =>
    (
      await buildPositionClaim({
        owner,
        delegate: addressOf(hot),
        pool,
        positions: [position],
        recentBlockhash: GOLDEN_BLOCKHASH,
      })
    )[0]!
  return { ...chain, claimOf: chain.claim, pool, keys, owner, hot, read, delegation, claim }
}

describe('the delegation of positions', () => {
  it("is built as the program's SDK builds it", async () => {
    const nft = Keypair.generate().publicKey
    const [position, positionNftAccount] = [cpAmm.derivePositionAddress(nft), cpAmm.derivePositionNftAccount(nft)]
    const { ClaimPositionFeeToOwner } = cpAmm.PositionDelegatePermission
    for (const [delegate, permissions] of [
      [HOT, [ClaimPositionFeeToOwner]],
      [null, []],
    ] as const) {
      const { transaction, requiredSigners } = await buildPositionDelegation({
        payer: addressOf(OWNER),
        recentBlockhash: GOLDEN_BLOCKHASH,
        owner: addressOf(OWNER),
        delegate: delegate === null ? null : addressOf(delegate),
        positions: [{ position: position.toBase58(), positionNftAccount: positionNftAccount.toBase58() }],
      })
      const { instructions } = await strangersClient().updateDelegatePermission({
        owner: OWNER.publicKey,
        positionNft: nft,
        delegate: HOT.publicKey,
        permission: cpAmm.encodeDelegatePermissions([...permissions]),
      })
      const theirs = new TransactionMessage({
        payerKey: OWNER.publicKey,
        recentBlockhash: GOLDEN_BLOCKHASH,
        instructions,
      }).compileToV0Message()
      const built = TransactionMessage.decompile(VersionedTransaction.deserialize(transaction).message).instructions
      const [approval, update] = TransactionMessage.decompile(theirs).instructions
      // Theirs leaves the delegate without permissions. Ours also takes it away.
      const revocation = spl.createRevokeInstruction(positionNftAccount, OWNER.publicKey, [], spl.TOKEN_2022_PROGRAM_ID)
      const keysOf = ({ keys }: TransactionInstruction) => keys.map(({ pubkey }) => pubkey.toBase58())
      expect(built[1]).toEqual(update)
      expect([built[0]!.data, keysOf(built[0]!)]).toEqual(
        delegate === null ? [revocation.data, keysOf(revocation)] : [approval!.data, keysOf(approval!)],
      )
      expect(requiredSigners).toEqual([addressOf(OWNER)])
    }
  })

  it('and a claim by the delegate fit for as many positions as a claim takes', async ({ annotate }) => {
    for (const payer of [OWNER, PAYER]) {
      const owner = addressOf(OWNER)
      const positions = strangersPositions(positionsPerClaim({ owner, payer: addressOf(payer) }))
      const { transaction } = await buildPositionDelegation({
        ...{ payer: addressOf(payer), recentBlockhash: GOLDEN_BLOCKHASH, before: BUDGET },
        ...{ owner, delegate: addressOf(HOT), positions },
      })
      expect(transaction.length).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
      await annotate(`${positions.length} positions: ${transaction.length} bytes`, 'size')
    }
    const keys = Object.fromEntries(
      ['address', 'tokenAMint', 'tokenBMint', 'tokenAVault', 'tokenBVault'].map((name) => [name, someone().toBase58()]),
    ) as Record<'address' | 'tokenAMint' | 'tokenBMint' | 'tokenAVault' | 'tokenBVault', string>
    const programs = {
      tokenAProgram: spl.TOKEN_PROGRAM_ID.toBase58(),
      tokenBProgram: spl.TOKEN_2022_PROGRAM_ID.toBase58(),
    }
    const [owner, delegate] = [addressOf(OWNER), addressOf(HOT)]
    const claims = await buildPositionClaim({
      ...{ owner, delegate, pool: { ...keys, ...programs }, recentBlockhash: GOLDEN_BLOCKHASH, before: BUDGET },
      positions: strangersPositions(positionsPerClaim({ owner, payer: delegate })),
    })
    expect(claims).toHaveLength(1)
    expect(claims[0]!.requiredSigners).toEqual([delegate])
    await annotate(`claim by a delegate: ${claims[0]!.transaction.length} bytes`, 'size')
  })

  it.skipIf(!HAS_DAMM_V2)('is read with the delegate of the NFT and what the position permits', async () => {
    const { chain, test, read, keys, hot, owner } = await openWithPosition()
    const before = await read()
    expect([before.delegate, permissionsOf(before), claimDelegateOf(before)]).toEqual([null, [], null])
    const approve = (amount: number) => {
      const nft = new PublicKey(before.positionNftAccount)
      return spl.createApproveInstruction(
        nft,
        hot.publicKey,
        keys.creator.publicKey,
        amount,
        [],
        spl.TOKEN_2022_PROGRAM_ID,
      )
    }
    const permit = (bits: number) => {
      const account = chain.account(before.position)!
      const data = Buffer.from(account.data)
      data.writeUInt32LE(bits, PERMISSIONS_OFFSET)
      chain.setAccount(before.position, { ...account, data })
    }
    const send = (amount: number) => {
      expect(test.send([approve(amount)], [keys.creator]).err).toBeNull()
      chain.advance(1)
    }
    send(0)
    expect([(await read()).delegate, claimDelegateOf(await read())]).toEqual([addressOf(hot), null])
    for (const [bits, names, isOnly] of [
      [16, ['claim_fees_to_owner'], true],
      [8, ['claim_fees'], false],
      [255, expect.arrayContaining(['add_liquidity', 'lock_position']), false],
    ] as const) {
      permit(bits)
      const position = await read()
      expect(permissionsOf(position)).toEqual(names)
      expect([claimDelegateOf(position), isClaimDelegateOnly(position, addressOf(hot))]).toEqual([
        addressOf(hot),
        isOnly,
      ])
      expect([claimDelegateOf(position), isClaimDelegateOnly(position, owner)]).toEqual([addressOf(hot), false])
    }
    // Such a delegate could take the NFT, and the program refuses its claims.
    send(1)
    expect(claimDelegateOf(await read())).toBeNull()
  })

  it.skipIf(!HAS_DAMM_V2 || lacksDelegates)(
    `lets the delegate claim into the owner's accounts alone${lacksDelegates ? ' (needs DAMM v2 0.2.5 in the cache)' : ''}`,
    async () => {
      const {
        chain,
        pool,
        keys,
        hot,
        read,
        delegation,
        claim,
        claimOf: chainClaim,
        land,
        run,
        tokensOf,
      } = await openWithPosition()
      expect(run(await claim(await read()), hot).err).not.toBeNull()
      land(await delegation(addressOf(hot)), keys.creator)
      const position = await read()
      expect(isClaimDelegateOnly(position, addressOf(hot))).toBe(true)
      // As if it were the owner, into its own accounts.
      const [elsewhere] = await chainClaim(pool, hot, [position])
      expect(run(elsewhere!, hot).err).toMatchObject({ InstructionError: [2, { Custom: expect.any(Number) }] })
      land(await claim(position), hot)
      expect(tokensOf(keys.creator.publicKey, spl.NATIVE_MINT.toBase58())).toBe(position.feeB)
      expect((await read()).feeB).toBe(0n)
      chain.advance(1)
      land(await delegation(null), keys.creator)
      expect([(await read()).delegate, (await read()).permissions]).toEqual([null, 0])
      expect(run(await claim(await read()), hot).err).not.toBeNull()
    },
  )
})
