/** Our instructions of a raise are those of the program's own SDK, account for account and byte for byte. */
import {
  deriveMetaplexMetadata,
  PRESALE_PROGRAM_ID,
  Presale,
  UnsoldTokenAction,
  WhitelistMode,
} from '@meteora-ag/presale'
import { Keypair, PublicKey, type Transaction } from '@solana/web3.js'
import BN from 'bn.js'
import { describe, expect, it, vi } from 'vitest'
import * as presale from '../../src/chain/programs/presale/index.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { tokenAccountOf } from '../support/gold.ts'
import { openTestChain, PROGRAMS_DIR } from '../support/local-chain.ts'
import { embeddedNode } from '../support/node.ts'
import { lacksPresale, landed, openRaise, sdk } from '../support/raises.ts'
import { addressOf } from '../support/wallets.ts'

/** Those of the program, as text that shows what differs. */
const shown = (instructions: Transaction['instructions']) =>
  instructions
    .filter(({ programId }) => programId.equals(PRESALE_PROGRAM_ID))
    .map(({ keys, data }) => [
      ...keys.map(({ pubkey, isSigner, isWritable }) => `${pubkey} ${isSigner} ${isWritable}`),
      data.toString('hex'),
    ])
const bn = (amount: bigint | number) => new BN(String(amount))

describe.skipIf(lacksPresale !== '')(`the instructions of a raise are those of the SDK ${lacksPresale}`, () => {
  const same = (transaction: Transaction, ...own: PlainInstruction[]) => {
    expect(shown(transaction.instructions)).toEqual(shown(own.map(sdk)))
    expect(own.length).toBeGreaterThan(0)
  }

  it('for its creation in each mode', async () => {
    const raise = await openRaise(await openTestChain({ programsDir: PROGRAMS_DIR }), {
      rounds: [{ supply: 1_000_000n }],
    })
    const connection = embeddedNode(raise.test.chain)
    const [base, by, stranger] = [Keypair.generate().publicKey, raise.creator.publicKey, Keypair.generate().publicKey]
    const { token, quote } = raise
    const place = presale.raisePlace({ ...raise.place, base: base.toBase58() })
    const creation = (more: Partial<presale.RaiseCreation>): presale.RaiseCreation => ({
      ...{
        mode: 'pro_rata',
        allowlist: 'none',
        maximum: 5_000n,
        minimum: 400n,
        startsAt: 7n,
        endsAt: 99n,
        unsold: 'burn',
      },
      ...{ earlyEnd: true, releaseBps: 2_500, releaseAt: 99n, lockSeconds: 11n, vestingSeconds: 12n, price: null },
      ...{ creator: stranger.toBase58(), payer: by.toBase58(), from: tokenAccountOf(token, by).toBase58() },
      rounds: [{ supply: 6_000n, buyerMin: 3n, buyerMax: 4_000n, feeBps: 123 }],
      ...more,
    })
    const params = (whitelistMode: WhitelistMode, disableEarlierPresaleEndOnceCapReached: boolean) => ({
      presaleArgs: {
        ...{
          presaleMaximumCap: bn(5_000),
          presaleMinimumCap: bn(400),
          presaleStartTime: bn(7),
          presaleEndTime: bn(99),
        },
        ...{ whitelistMode, unsoldTokenAction: UnsoldTokenAction.Burn, disableEarlierPresaleEndOnceCapReached },
      },
      lockedVestingArgs: {
        ...{ immediateReleaseBps: bn(2_500), immediateReleaseTimestamp: bn(99) },
        ...{ lockDuration: bn(11), vestDuration: bn(12) },
      },
      ...{ basePubkey: base, baseMintPubkey: token.mint, quoteMintPubkey: quote.mint },
      ...{ creatorPubkey: stranger, feePayerPubkey: by },
      presaleRegistries: [
        {
          ...{ presaleSupply: bn(6_000), buyerMinimumDepositCap: bn(3), buyerMaximumDepositCap: bn(4_000) },
          depositFeeBps: bn(123),
        },
      ],
    })
    const { Permissionless, PermissionWithMerkleProof } = WhitelistMode
    /** The SDK also names the metadata of the token, in these modes alone. */
    const withoutMetadata = (transaction: Transaction) => {
      for (const { keys } of transaction.instructions) {
        const at = keys.findIndex(({ pubkey }) => pubkey.equals(deriveMetaplexMetadata(token.mint)))
        if (at >= 0) keys.splice(at, 1)
      }
      return transaction
    }
    same(
      withoutMetadata(
        await Presale.createProrataPresale(connection, PRESALE_PROGRAM_ID, params(Permissionless, false)),
      ),
      presale.creationInstruction(place, creation({})),
    )
    same(
      withoutMetadata(
        await Presale.createFcfsPresale(connection, PRESALE_PROGRAM_ID, params(PermissionWithMerkleProof, true)),
      ),
      presale.creationInstruction(place, creation({ mode: 'first_come', allowlist: 'merkle', earlyEnd: false })),
    )
    const price = presale.priceOfText('0.5', { token: 9, quote: 9 })!
    same(
      await Presale.createFixedPricePresale(connection, PRESALE_PROGRAM_ID, params(Permissionless, false), {
        ...{ price: { toNumber: () => 0.5 }, rounding: 0, disableWithdraw: true },
      } as never),
      presale.fixedPriceInstruction(place, {
        ...{ payer: by.toBase58(), owner: stranger.toBase58(), price, withdrawable: false },
      }),
      presale.creationInstruction(place, creation({ mode: 'fixed_price', price })),
    )
    same(
      await Presale.closeFixedPricePresaleArgs(
        connection,
        { base, baseMint: token.mint, quoteMint: quote.mint, owner: by },
        PRESALE_PROGRAM_ID,
      ),
      presale.closeFixedPriceInstruction(place.fixedPriceArgs, by.toBase58()),
    )
  })

  it.each(['completed', 'failed'] as const)('for the acts of a raise that is %s', async (state) => {
    const minimum = state === 'completed' ? 1n : 900_000n
    const raise = await openRaise(await openTestChain({ programsDir: PROGRAMS_DIR }), {
      minimum,
      rounds: [{ supply: 1_000_000n }],
    })
    const { place, creator, token, quote, test } = raise
    const buyer = raise.buyer()
    landed(raise.join(buyer))
    landed(raise.deposit(buyer, 9n))
    raise.skip(3_600)
    vi.useFakeTimers({ toFake: ['Date'], now: Number(raise.now()) * 1_000 })
    const client = await Presale.create(embeddedNode(test.chain), new PublicKey(place.address))
    const { escrow, owner } = raise.placeOf(buyer)
    const [to, key, registryIndex] = [buyer.quotes.toBase58(), buyer.key.publicKey, bn(0)]
    const own = { escrow, owner, payer: owner }
    same(
      await client.deposit({ owner: key, amount: bn(5), registryIndex }),
      presale.depositInstruction(place, { ...own, from: to, amount: 5n }),
    )
    same(
      await client.createPermissionlessEscrow({ owner: key, payer: key } as never),
      presale.escrowInstruction(place.address, own),
    )
    same(
      await client.withdraw({ owner: key, amount: bn(5), registryIndex }),
      presale.withdrawalInstruction(place, { ...own, to }, 5n),
    )
    same(
      await client.withdrawRemainingQuote({ owner: key, registryIndex }),
      presale.refundInstruction(place, { ...own, to }),
    )
    same(
      await client.claim({ owner: key, registryIndex }),
      presale.claimInstruction(place, { ...own, to: buyer.tokens.toBase58() }),
    )
    same(await client.closeEscrow({ owner: key, registryIndex }), presale.closeEscrowInstruction(place.address, own))
    const by = creator.publicKey
    const [tokens, quotes] = [token, quote].map((mint) => tokenAccountOf(mint, by).toBase58()) as [string, string]
    const of = { ...place, creator: addressOf(creator) }
    same(
      await client.creatorWithdraw({ creator: by }),
      presale.creatorWithdrawalInstruction(of, state, state === 'completed' ? quotes : tokens),
    )
    same(await client.creatorCollectFee(), presale.feeInstruction(of, quotes))
    same(await client.performUnsoldBaseTokenAction(by), presale.unsoldInstruction(of, tokens))
    const [root, version] = [Buffer.alloc(32, 7), 9n]
    same(
      await client.createMerkleRootConfig({ root, version: bn(version), creator: by }),
      presale.rootInstruction(place.address, {
        ...{ creator: by.toBase58(), config: presale.merkleRootAddress(place.address, version), root, version },
      }),
    )
    const serverUrl = 'https://launch.example'
    same(
      await client.createPermissionedServerMetadata({ owner: by, serverUrl }),
      presale.serverMetadataInstruction(place.address, {
        ...{ creator: by.toBase58(), metadata: presale.serverMetadataAddress(place.address), url: serverUrl },
      }),
    )
    vi.useRealTimers()
  })
})
